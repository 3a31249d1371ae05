"""Names as PostgreSQL's SQL writes them."""

from chalicelib.domain.table import TableName


def quoted(name: str) -> str:
    """An identifier, quoted."""
    return '"' + name.replace('"', '""') + '"'


def quoted_table(name: TableName) -> str:
    """A table's full name, quoted."""
    return f"{quoted(name.schema_name)}.{quoted(name.table_name)}"
