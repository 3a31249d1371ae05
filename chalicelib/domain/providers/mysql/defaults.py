"""What a request may leave out."""

from chalicelib.domain.providers.contract import DatabaseDefaults

DEFAULTS = DatabaseDefaults(title="MySQL", port=3306, schema=None)
"""MySQL has no schemas below a database: a mapping without one means the database of the address."""
