"""A MySQL server as a replica of another one, which a failover promotes."""

from tests.support.databases.mysql import MySQLServer
from tests.support.waiting import eventually


def is_old(server: MySQLServer) -> bool:
    """Whether it has the earlier words for sources and replicas only (before MySQL 8.0.22)."""
    return str(server.value("VERSION()")).startswith("8.0.1")


def replicate(replica: MySQLServer, of: MySQLServer, account: str, password: str) -> None:
    """Lets the replica follow the other server by GTIDs, with an account that may read its binary log."""
    place = "SOURCE" if not is_old(replica) else "MASTER"
    source = f"{place}_HOST = '127.0.0.1', {place}_PORT = {of.port}, {place}_USER = '{account}'"
    more = f"{place}_PASSWORD = '{password}', {place}_AUTO_POSITION = 1, GET_{place}_PUBLIC_KEY = 1"
    replica.run(
        f"CHANGE {'REPLICATION SOURCE' if place == 'SOURCE' else 'MASTER'} TO {source}, {more}",
        f"START {_word(replica)}",
    )


def until_replicated(replica: MySQLServer, of: MySQLServer) -> None:
    """Waits until the replica has every transaction of the other server."""
    executed = of.value("@@GLOBAL.gtid_executed")
    eventually(lambda: replica.value(f"GTID_SUBSET('{executed}', @@GLOBAL.gtid_executed)"))


def promote(replica: MySQLServer) -> None:
    """It follows nobody any more."""
    replica.run(f"STOP {_word(replica)}", f"RESET {_word(replica)} ALL")


def _word(replica: MySQLServer) -> str:
    return "SLAVE" if is_old(replica) else "REPLICA"
