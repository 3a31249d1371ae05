"""How the advice of readiness is carried out where the server runs.

Managed services have no ALTER SYSTEM: each has its own way to change a setting. Sources: the providers' documentation.
"""

from collections.abc import Mapping

from chalicelib.domain.providers.postgresql.facts import Hosting, PostgreSQLServerFacts
from chalicelib.domain.providers.postgresql.sql import quoted

_FLAGS_REPLACED = "(it replaces all flags: name those that are set, too)"

_SETTING: Mapping[Hosting, str] = {
    Hosting.SELF_MANAGED: "ALTER SYSTEM SET {name} = '{value}';",
    Hosting.RDS: "Set {name} = {value} in the instance's DB parameter group (Amazon RDS).",
    Hosting.AURORA: "Set {name} = {value} in the DB cluster parameter group (Amazon Aurora).",
    Hosting.CLOUD_SQL: f"gcloud sql instances patch INSTANCE --database-flags={{name}}={{value}} {_FLAGS_REPLACED}",
    Hosting.ALLOYDB: (
        "gcloud alloydb instances update INSTANCE --cluster=CLUSTER --region=REGION "
        f"--database-flags={{name}}={{value}} {_FLAGS_REPLACED}"
    ),
    Hosting.AZURE: (
        "az postgres flexible-server parameter set --resource-group GROUP --server-name SERVER "
        "--name {name} --value {value}"
    ),
    Hosting.SUPABASE: "supabase --experimental --project-ref PROJECT postgres-config update --config {name}={value}",
    Hosting.NEON: "Neon sets {name} itself: ask its support for another value.",
}

_RESTART: Mapping[Hosting, str] = {
    Hosting.SELF_MANAGED: "Then restart the server.",
    Hosting.RDS: "Then reboot the instance.",
    Hosting.AURORA: "Then reboot the writer instance.",
    Hosting.CLOUD_SQL: "The instance restarts.",
    Hosting.ALLOYDB: "The instance restarts.",
    Hosting.AZURE: "Then restart the server.",
    Hosting.SUPABASE: "The database restarts.",
    Hosting.NEON: "",
}

_RELOAD = {Hosting.SELF_MANAGED: "SELECT pg_reload_conf();"}

_LOGICAL_SETTING: Mapping[Hosting, tuple[str, str]] = {
    Hosting.RDS: ("rds.logical_replication", "1"),
    Hosting.AURORA: ("rds.logical_replication", "1"),
    Hosting.CLOUD_SQL: ("cloudsql.logical_decoding", "on"),
    Hosting.ALLOYDB: ("alloydb.logical_decoding", "on"),
}
"""What is set instead of wal_level."""

_NEON_LOGICAL = "Neon Console, Project settings, Logical replication: Enable. It restarts the computes, and stays on."


def change_setting(facts: PostgreSQLServerFacts, name: str, value: str, *, restarts: bool = True) -> str:
    after = (_RESTART if restarts else _RELOAD).get(facts.hosting, "")
    return f"{_SETTING[facts.hosting].format(name=name, value=value)} {after}".rstrip()


def enable_logical(facts: PostgreSQLServerFacts) -> str:
    """How the log gets what logical replication reads from it."""
    if facts.hosting is Hosting.NEON:
        return _NEON_LOGICAL
    return change_setting(facts, *_LOGICAL_SETTING.get(facts.hosting, ("wal_level", "logical")))


def grant_replication(facts: PostgreSQLServerFacts) -> str:
    role = quoted(facts.role.name)
    match facts.hosting:
        case Hosting.RDS | Hosting.AURORA:
            return f"GRANT rds_replication TO {role};"
        case Hosting.NEON:
            return (
                f"ALTER ROLE {role} WITH REPLICATION; or make the role in the Neon Console: "
                "roles made there may replicate."
            )
        case _:
            return f"ALTER ROLE {role} WITH REPLICATION;"
