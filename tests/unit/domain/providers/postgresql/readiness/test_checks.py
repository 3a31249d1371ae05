"""Readiness from facts that are hard to produce on a real server, and the structure of the verdict."""

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from chalicelib.domain.pipeline import Capture, CaptureOptions, Pipeline, PublicationMode
from chalicelib.domain.providers.postgresql.facts import (
    PublicationFacts,
    PublishedTable,
    RawColumn,
    RawTable,
    RelationKind,
    ReplicaIdentity,
    RoleFacts,
    ServerFacts,
    SlotFacts,
    TypeFacts,
)
from chalicelib.domain.providers.postgresql.readiness.checks import CHECKS, judge_readiness, unreachable_readiness
from chalicelib.domain.providers.postgresql.replication import CapturePlan, publication_name
from chalicelib.domain.readiness import CheckOutcome, Readiness, ReadinessStatus
from chalicelib.domain.table import TableName
from chalicelib.errors import Unavailable

NOW = datetime(2026, 1, 31, 12, tzinfo=UTC)
ORDERS = TableName("shop", "orders")
COLUMN = RawColumn(name="id", ordinal=1, type="bigint", base=TypeFacts(name="bigint"), nullable=False)
TABLE = RawTable(name=ORDERS, raw_columns=(COLUMN,), primary_key_columns=("id",), owned=True)
FACTS = ServerFacts(
    version="18.4",
    version_number=180004,
    database="shop",
    wal_level="logical",
    max_slot_wal_keep_megabytes=10240,
    role=RoleFacts(name="cdc"),
    tables=(TABLE,),
)
PLAN = CapturePlan(tables=(ORDERS,), slot_name="slot", publication_name="pub")
HEARTBEAT = RawTable(
    name=TableName("shop", "heartbeat"),
    raw_columns=(COLUMN, replace(COLUMN, name="ts", type="timestamp with time zone")),
    primary_key_columns=("id",),
    owned=True,
    has_unique_id=True,
    can_write_heartbeat=True,
)
BEATING = replace(PLAN, heartbeat_table=HEARTBEAT.name)
EXISTING = replace(PLAN, publication_mode=PublicationMode.EXISTING)
PUBLICATION = PublicationFacts(name="pub", tables=(PublishedTable(name=ORDERS),), table_count=1)


def judged(plan: CapturePlan | None = PLAN, **changes: Any) -> Readiness:
    """The verdict on facts that are ready, with these changes."""
    return judge_readiness(replace(FACTS, **changes), plan, NOW)


def statuses(readiness: Readiness, status: CheckOutcome) -> set[str]:
    """The keys of the checks with this status."""
    return {check.key for check in readiness.checks if check.status is status}


def failing(plan: CapturePlan | None = PLAN, **changes: Any) -> set[str]:
    """The keys of the checks that fail."""
    return statuses(judged(plan, **changes), CheckOutcome.FAIL)


def warning(plan: CapturePlan | None = PLAN, **changes: Any) -> set[str]:
    """The keys of the checks that warn, but for the heartbeat table: `PLAN` has chosen none."""
    return statuses(judged(plan, **changes), CheckOutcome.WARN) - {"heartbeat"}


def test_good_facts_are_ready_with_and_without_a_plan() -> None:
    assert judged(BEATING, tables=(TABLE, HEARTBEAT)).status is ReadinessStatus.READY
    assert judged(None, tables=()).status is ReadinessStatus.READY
    assert judged().checked_at == NOW


def test_keys_of_checks_are_unique() -> None:
    assert len({check.key for check in CHECKS}) == len(CHECKS)


def test_every_failed_check_recommends_an_action() -> None:
    for check in judged(wal_level="minimal", max_slots=0, role=RoleFacts(name="x", replication=False)).failures:
        assert check.recommended_action
        assert check.current_value != check.expected_value


def test_passing_check_recommends_nothing() -> None:
    assert {check.recommended_action for check in judged(BEATING, tables=(TABLE, HEARTBEAT)).checks} == {None}


def test_a_verdict_with_only_warnings_is_a_warning() -> None:
    assert judged(version="12.1", version_number=120001).status is ReadinessStatus.WARNING


@pytest.mark.parametrize(
    ("plan", "version_number", "expected"),
    [
        (PLAN, 180000, CheckOutcome.FAIL),
        (EXISTING, 180000, CheckOutcome.WARN),
        (EXISTING, 150000, CheckOutcome.FAIL),
        (None, 180000, CheckOutcome.WARN),
        (None, 150000, CheckOutcome.FAIL),
    ],
)
def test_standby_is_judged_by_its_version_and_by_who_makes_the_publication(
    plan: CapturePlan | None, version_number: int, expected: CheckOutcome
) -> None:
    readiness = judged(plan, in_recovery=True, version_number=version_number, publications=(PUBLICATION,))
    assert next(check.status for check in readiness.checks if check.key == "primary_server") is expected


def test_slot_of_another_plug_in_is_refused() -> None:
    assert failing(slots=(SlotFacts(name="slot", plugin="wal2json", database="shop"),)) == {"slot"}


def test_lost_slot_fails_the_plan_that_names_it_and_only_warns_without() -> None:
    slots = (SlotFacts(name="slot", database="shop", wal_status="lost"),)
    assert failing(slots=slots) == {"slot_log"}
    assert failing(replace(PLAN, slot_name="other"), slots=slots) == set()
    assert warning(None, slots=slots) == {"slot_log"}


def test_a_slot_that_may_lose_its_log_is_a_warning() -> None:
    assert warning(slots=(SlotFacts(name="slot", database="shop", wal_status="unreserved"),)) == {"slot_log"}


def test_used_up_slots_are_no_problem_for_a_pipeline_that_has_one() -> None:
    slots = (SlotFacts(name="slot", database="shop", safe_bytes=10 * 1024**3),)
    assert failing(slots=slots, max_slots=1) == set()
    assert failing(replace(PLAN, slot_name="other"), slots=slots, max_slots=1) == {"replication_slots"}
    assert warning(None, slots=slots, max_slots=1) == {"replication_slots"}


def test_a_running_pipelines_own_slot_is_not_judged_as_occupied() -> None:
    running = replace(PLAN, deployed=True)
    used = {
        "slots": (SlotFacts(name="slot", database="shop", active=True),),
        "max_slots": 1,
        "senders_used": 1,
        "max_senders": 1,
        "role": RoleFacts(name="cdc", connection_limit=3, connections_used=3),
        "publications": (PUBLICATION,),
    }
    assert failing(running, **used) == set()
    assert failing(PLAN, **used) == {"slot", "wal_senders", "connection_limit"}


@pytest.mark.parametrize(("free", "expected"), [(1, "fail"), (2, "warn"), (4, "pass")])
def test_connection_limit_is_judged_by_what_is_left(free: int, expected: str) -> None:
    role = RoleFacts(name="cdc", connection_limit=10, connections_used=10 - free)
    check = next(check for check in judged(role=role).checks if check.key == "connection_limit")
    assert check.status == expected


def test_a_superuser_has_no_connection_limit_and_needs_no_grant() -> None:
    role = RoleFacts(
        name="postgres", superuser=True, replication=False, can_create_in_database=False, connection_limit=1
    )
    assert failing(role=role, tables=(replace(TABLE, owned=False),)) == set()


def test_publication_that_lists_exactly_the_tables_needs_no_rights() -> None:
    poor = RoleFacts(name="cdc", can_create_in_database=False)
    foreign = replace(PUBLICATION, owned=False)
    assert failing(role=poor, tables=(replace(TABLE, owned=False),), publications=(foreign,)) == set()
    more = replace(foreign, table_count=2)
    assert failing(role=poor, publications=(more,)) == {"publication_rights"}


def test_a_row_filter_matters_only_when_the_publication_is_not_changed() -> None:
    published = replace(PUBLICATION, tables=(PublishedTable(name=ORDERS, row_filter=True),))
    assert warning(EXISTING, publications=(published,)) == {"publication_rows"}
    assert warning(PLAN, publications=(published,)) == {"publication_rows"}
    assert warning(PLAN, publications=(replace(published, table_count=2),)) == set()


def test_publication_without_updates_and_deletes_does_not_ask_for_an_identity() -> None:
    keyless = replace(TABLE, primary_key_columns=(), identity_usable=False)
    inserts = replace(PUBLICATION, updates=False, deletes=False)
    assert failing(EXISTING, tables=(keyless,), publications=(inserts,)) == set()
    deletes = replace(PUBLICATION, updates=False)
    assert failing(EXISTING, tables=(keyless,), publications=(deletes,)) == {"replica_identity"}


def test_a_replica_identity_failure_names_the_effect_and_the_repair() -> None:
    nothing = replace(TABLE, replica_identity=ReplicaIdentity.NOTHING, identity_usable=False)
    (check,) = judged(tables=(nothing,)).failures
    assert check.recommended_action is not None
    assert check.recommended_action.startswith('ALTER TABLE "shop"."orders" REPLICA IDENTITY FULL;')
    assert "application" in check.description


def test_partitioned_table_passes_when_the_pipeline_publishes_by_the_root() -> None:
    parts = replace(TABLE, kind=RelationKind.PARTITIONED)
    assert failing(PLAN, tables=(parts,)) == set()
    assert failing(replace(PLAN, publishes_partition_root=False), tables=(parts,)) == {"partitioned_tables"}


def test_names_in_sql_are_quoted() -> None:
    odd = replace(TABLE, name=TableName('sh"op', "Or ders"), schema_usage=False)
    plan = replace(PLAN, tables=(odd.name,))
    (check,) = judged(plan, tables=(odd,), role=RoleFacts(name='c"dc')).failures
    assert check.recommended_action == 'GRANT USAGE ON SCHEMA "sh""op" TO "c""dc";'


def test_many_faulty_tables_are_counted_not_listed() -> None:
    names = tuple(TableName("shop", f"t{number}") for number in range(500))
    readiness = judged(
        replace(PLAN, tables=names), tables=tuple(replace(TABLE, name=n, schema_usage=False) for n in names)
    )
    (check,) = readiness.failures
    assert check.current_value is not None
    assert check.current_value.endswith("and 490 more")
    assert len(check.recommended_action or "") < 2000


def test_unreachable_source_names_the_connection_and_knows_nothing_else() -> None:
    readiness = unreachable_readiness(Unavailable("The host is asleep.", code="TIMEOUT"), NOW)
    assert readiness.status is ReadinessStatus.NOT_READY
    assert [check.key for check in readiness.failures] == ["connection"]
    assert readiness.checks[0].current_value == "TIMEOUT"
    assert {check.status for check in readiness.checks[1:]} == {CheckOutcome.UNKNOWN}
    assert len(readiness.checks) == len(CHECKS)


def test_plan_of_a_pipeline_takes_over_its_choices() -> None:
    options = CaptureOptions(publication_mode=PublicationMode.EXISTING, slot_name="mine")
    capture = Capture(
        topic_prefix="p", tables=(ORDERS,), options=options, properties={"publish.via.partition.root": "false"}
    )
    pipeline = Pipeline(
        id="0b0e0b0e-0000-4000-8000-000000000001",
        name="p",
        source_id="s",
        stream_cluster_id="k",
        connect_cluster_id="c",
        capture=capture,
        created_at=NOW,
        updated_at=NOW,
    )
    assert CapturePlan.of(pipeline, deployed=True) == CapturePlan(
        tables=(ORDERS,),
        slot_name="mine",
        publication_name=publication_name(pipeline),
        publication_mode=PublicationMode.EXISTING,
        publishes_partition_root=False,
        deployed=True,
    )
