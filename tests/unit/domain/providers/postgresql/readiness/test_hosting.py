"""Advice by hosting provider."""

from dataclasses import replace

import pytest

from chalicelib.domain.providers.postgresql.facts import Hosting, PostgreSQLServerFacts, RoleFacts
from chalicelib.domain.providers.postgresql.readiness.hosting import change_setting, enable_logical, grant_replication

FACTS = PostgreSQLServerFacts(
    version="18.4", version_number=180004, database="shop", wal_level="replica", role=RoleFacts(name="cdc")
)
WAYS = {
    Hosting.RDS: "instance's DB parameter group",
    Hosting.AURORA: "DB cluster parameter group",
    Hosting.AZURE: "az postgres flexible-server parameter set",
    Hosting.CLOUD_SQL: "gcloud sql instances patch",
    Hosting.ALLOYDB: "gcloud alloydb instances update",
    Hosting.NEON: "Neon",
    Hosting.SUPABASE: "supabase",
}


@pytest.mark.parametrize("hosting", [hosting for hosting in Hosting if hosting is not Hosting.SELF_MANAGED])
def test_a_managed_service_is_changed_in_its_own_way_and_never_by_alter_system(hosting: Hosting) -> None:
    facts = replace(FACTS, hosting=hosting)
    for advice in (enable_logical(facts), change_setting(facts, "max_wal_senders", "14")):
        assert WAYS[hosting] in advice
        assert "ALTER SYSTEM" not in advice
        assert "{" not in advice


@pytest.mark.parametrize(
    ("hosting", "setting"),
    [
        (Hosting.SELF_MANAGED, "ALTER SYSTEM SET wal_level = 'logical'; Then restart the server."),
        (Hosting.RDS, "rds.logical_replication = 1"),
        (Hosting.AURORA, "rds.logical_replication = 1"),
        (Hosting.CLOUD_SQL, "cloudsql.logical_decoding=on"),
        (Hosting.ALLOYDB, "alloydb.logical_decoding=on"),
        (Hosting.AZURE, "--name wal_level --value logical"),
        (Hosting.NEON, "Neon Console"),
    ],
)
def test_logical_replication_is_enabled_in_the_services_own_way(hosting: Hosting, setting: str) -> None:
    assert setting in enable_logical(replace(FACTS, hosting=hosting))


def test_a_setting_that_needs_no_restart_is_reloaded() -> None:
    assert change_setting(FACTS, "max_slot_wal_keep_size", "10GB", restarts=False) == (
        "ALTER SYSTEM SET max_slot_wal_keep_size = '10GB'; SELECT pg_reload_conf();"
    )


@pytest.mark.parametrize(
    ("hosting", "grant"),
    [
        (Hosting.RDS, 'GRANT rds_replication TO "cdc";'),
        (Hosting.AURORA, 'GRANT rds_replication TO "cdc";'),
        (Hosting.CLOUD_SQL, 'ALTER ROLE "cdc" WITH REPLICATION;'),
        (Hosting.SELF_MANAGED, 'ALTER ROLE "cdc" WITH REPLICATION;'),
    ],
)
def test_the_right_to_replicate_is_granted_in_the_services_own_way(hosting: Hosting, grant: str) -> None:
    assert grant_replication(replace(FACTS, hosting=hosting)) == grant
