"""Names as MySQL's SQL writes them."""

from chalicelib.domain.table import TableName


def quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"


def quoted_table(name: TableName) -> str:
    return f"{quoted(name.schema_name)}.{quoted(name.table_name)}"
