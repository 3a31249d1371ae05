"""Names as MySQL's SQL writes them."""

from chalicelib.domain.table import TableName


def quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"


def quoted_table(name: TableName) -> str:
    return f"{quoted(name.schema_name)}.{quoted(name.table_name)}"


def quoted_account(account: str) -> str:
    """`cdc@%`, as the server names an account, with each part quoted. A name may have an @, a host has none."""
    name, _, host = account.rpartition("@")
    return f"{quoted(name)}@{quoted(host)}"
