"""How the advice of readiness is carried out where the server runs.

Managed services have no SET PERSIST: each has its own way to change a setting. Sources: the providers' documentation.
"""

from collections.abc import Mapping

from chalicelib.domain.providers.mysql.facts import MySQLHosting, MySQLServerFacts

_FLAGS_REPLACED = "(it replaces all flags: name those that are set, too)"
_PERSIST_VERSION = 80000

_SETTING: Mapping[MySQLHosting, str] = {
    MySQLHosting.RDS: "Set {name} = {value} in the instance's DB parameter group (Amazon RDS).",
    MySQLHosting.AURORA: "Set {name} = {value} in the DB cluster parameter group (Amazon Aurora).",
    MySQLHosting.CLOUD_SQL: (
        f"gcloud sql instances patch INSTANCE --database-flags={{name}}={{value}} {_FLAGS_REPLACED}"
    ),
    MySQLHosting.AZURE: (
        "az mysql flexible-server parameter set --resource-group GROUP --server-name SERVER "
        "--name {name} --value {value}"
    ),
}
"""A server of one's own takes SET PERSIST."""

_RESTART: Mapping[MySQLHosting, str] = {
    MySQLHosting.RDS: "Then reboot the instance.",
    MySQLHosting.AURORA: "Then reboot the writer instance.",
    MySQLHosting.CLOUD_SQL: "The instance restarts.",
    MySQLHosting.AZURE: "Then restart the server.",
}

_ENABLE_LOG: Mapping[MySQLHosting, str] = {
    MySQLHosting.RDS: (
        "Turn on automated backups of the instance (a backup retention of at least 1 day): Amazon RDS then writes a "
        "binary log."
    ),
    MySQLHosting.AURORA: (
        "Set binlog_format = ROW in the DB cluster parameter group (Amazon Aurora). Then reboot the writer instance."
    ),
    MySQLHosting.CLOUD_SQL: (
        "gcloud sql instances patch INSTANCE --enable-bin-log (point-in-time recovery). The instance restarts."
    ),
    MySQLHosting.AZURE: (
        "Azure Database for MySQL always writes one, but on a read replica: register the source server."
    ),
}

_AMAZON_RETENTION = "CALL mysql.rds_set_configuration('binlog retention hours', {hours}); -- at most "
_RETENTION: Mapping[MySQLHosting, str] = {
    MySQLHosting.RDS: f"{_AMAZON_RETENTION}168",
    MySQLHosting.AURORA: f"{_AMAZON_RETENTION}2160",
    MySQLHosting.CLOUD_SQL: "gcloud sql instances patch INSTANCE --retained-transaction-log-days={days}",
}


def change_setting(facts: MySQLServerFacts, name: str, value: str, *, restarts: bool = False) -> str:
    """How a global variable gets this value. `restarts`: the server takes it only when it starts."""
    if facts.hosting in _SETTING:
        after = _RESTART[facts.hosting] if restarts else ""
        return f"{_SETTING[facts.hosting].format(name=name, value=value)} {after}".rstrip()
    if restarts:
        return f"Set {name} = {value} in the server's configuration (my.cnf, [mysqld]). Then restart the server."
    if facts.version_number < _PERSIST_VERSION:
        return f"SET GLOBAL {name} = {_literal(value)}; -- and set it in my.cnf, too"
    return f"SET PERSIST {name} = {_literal(value)};"


def _literal(value: str) -> str:
    return value if value.isdecimal() or value.isalpha() else f"'{value}'"


def enable_log(facts: MySQLServerFacts) -> str:
    """How a server gets a binary log."""
    return _ENABLE_LOG.get(facts.hosting) or change_setting(facts, "log_bin", "mysql-bin", restarts=True)


def keep_log(facts: MySQLServerFacts, hours: int) -> str:
    """How the server keeps its binary log for so long."""
    if facts.hosting in _RETENTION:
        return _RETENTION[facts.hosting].format(hours=hours, days=-(-hours // 24))
    if facts.version_number < _PERSIST_VERSION:
        return change_setting(facts, "expire_logs_days", str(-(-hours // 24)))
    return change_setting(facts, "binlog_expire_logs_seconds", str(hours * 3600))
