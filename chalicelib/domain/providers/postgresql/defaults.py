"""What a request may leave out."""

from chalicelib.domain.providers.contract import DatabaseDefaults

DEFAULT_SCHEMA = "public"
DEFAULTS = DatabaseDefaults(title="PostgreSQL", port=5432, schema=DEFAULT_SCHEMA)
