"""Unusual tables from PostgreSQL to PostgreSQL: after all changes the target equals the source, row by row, as text."""

from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from tests.e2e.unusual_tables import SOURCE_SCHEMA, TABLES, UnusualTable
from tests.support.apps.real_headgate import Json, RealDatabase, RealHeadgate
from tests.support.waiting import eventually

pytestmark = pytest.mark.real
EXISTING_SCHEMA = "Ziel vorhanden"


@dataclass(frozen=True, kw_only=True)
class Replication:
    """One pipeline of all unusual tables, delivered into tables that the sink creates and into tables that exist."""

    headgate: RealHeadgate
    source: RealDatabase
    target: RealDatabase
    pipeline: Json
    deliveries: dict[str, Json]

    def differing(self, schema: str, tables: tuple[UnusualTable, ...]) -> dict[str, str]:
        """Tables whose content differs from the source, with the difference."""
        found = {}
        for table in tables:
            target_values = self.target.content(schema, table.name, table.columns)
            source_values = self.source.content(SOURCE_SCHEMA, table.name, table.columns)
            if target_values != source_values:
                found[table.name] = _difference(source_values, target_values)
        return found

    def health(self) -> dict[str, str]:
        """The observed state of everything."""
        paths = {"pipeline": f"/pipelines/{self.pipeline['id']}/status?fresh=true"} | {
            name: f"/deliveries/{delivery['id']}/status?fresh=true" for name, delivery in self.deliveries.items()
        }
        return {name: self.headgate.get(path)["observed_state"] for name, path in paths.items()}


def _difference(source_values: list[str] | str, target_values: list[str] | str) -> str:
    if isinstance(source_values, str) or isinstance(target_values, str):
        return str(target_values)[:200]
    missing = [row for row in source_values if row not in set(target_values)]
    unexpected = [row for row in target_values if row not in set(source_values)]
    counts = f"{len(source_values)} rows in the source, {len(target_values)} in the target"
    return f"{counts}; missing {str(missing[:2])[:300]}; unexpected {str(unexpected[:2])[:300]}"


@pytest.fixture(scope="module")
def replication(headgate: RealHeadgate) -> Iterator[Replication]:
    source, target = headgate.database("unusual"), headgate.database("ziel")
    source.run(f'CREATE SCHEMA "{SOURCE_SCHEMA}" AUTHORIZATION {{role}}')
    target.run(f'CREATE SCHEMA "{EXISTING_SCHEMA}" AUTHORIZATION {{role}}')
    for table in TABLES:
        source.run(*table.create(SOURCE_SCHEMA))
        target.run(*(statement.replace("PARTITION BY RANGE (at)", "") for statement in table.create(EXISTING_SCHEMA)))
        for part, (since, to) in enumerate((("2026-01-01", "2026-07-01"), ("2026-07-01", "2027-01-01"))):
            if "PARTITION BY" in table.create_statement:
                bounds = f"FOR VALUES FROM ('{since}') TO ('{to}')"
                source.run(
                    *table.statements(
                        [
                            f'CREATE TABLE "{SOURCE_SCHEMA}".part{part} PARTITION OF {{t}} {bounds}',
                            f'ALTER TABLE "{SOURCE_SCHEMA}".part{part} REPLICA IDENTITY FULL',
                        ],
                        SOURCE_SCHEMA,
                    )
                )
        source.run(*table.statements(table.rows, SOURCE_SCHEMA))
        if table.keyless or table.full_identity:
            source.run(*table.statements(["ALTER TABLE {t} REPLICA IDENTITY FULL"], SOURCE_SCHEMA))
    source.run(
        f'CREATE TABLE "{SOURCE_SCHEMA}"."TWIN" (id int PRIMARY KEY)',
        f'INSERT INTO "{SOURCE_SCHEMA}"."TWIN" VALUES (1)',
    )
    pipeline = headgate.captured(source, *(table.name for table in TABLES), schema=SOURCE_SCHEMA)
    destination = headgate.destination(target)
    topics = dict(zip((table.name for table in TABLES), pipeline["topics"], strict=True))
    keyed = {topics[table.name]: table.name for table in TABLES if not table.keyless}
    keyless = {topics[table.name]: table.name for table in TABLES if table.keyless}
    deliveries = {
        "auto": headgate.deliver(destination, headgate.delivery_body(pipeline, keyed)),
        "existing": headgate.deliver(destination, headgate.delivery_body(pipeline, keyed, EXISTING_SCHEMA)),
        "inserted": headgate.deliver(destination, headgate.delivery_body(pipeline, keyless, write_mode="insert")),
    }
    yield Replication(headgate=headgate, source=source, target=target, pipeline=pipeline, deliveries=deliveries)
    for delivery in deliveries.values():
        headgate.delete(f"/deliveries/{delivery['id']}")
    headgate.delete(f"/pipelines/{pipeline['id']}")


KEYED = tuple(table for table in TABLES if not table.keyless)
KEYLESS = tuple(table for table in TABLES if table.keyless)


@pytest.fixture(scope="module")
def arrived(replication: Replication) -> Replication:
    """Compares the snapshot, then makes every change and compares again."""
    snapshot = tuple(table for table in KEYED if table.name != "growing")
    _until_equal(replication, snapshot)
    for table in TABLES:
        replication.source.run(*table.statements(table.changes, SOURCE_SCHEMA))
    _until_equal(replication, KEYED)
    return replication


def _until_equal(replication: Replication, keyed: tuple[UnusualTable, ...]) -> None:
    eventually(
        lambda: {
            "auto": replication.differing("shop", keyed + KEYLESS),
            "existing": replication.differing(EXISTING_SCHEMA, keyed),
            **(
                {"health": replication.health()}
                if any(state != "RUNNING" for state in replication.health().values())
                else {}
            ),
        },
        lambda seen: not any(seen.values()),
        seconds=90,
    )


@pytest.mark.parametrize("table", TABLES, ids=lambda table: table.name)
def test_every_change_of_the_table_arrives(arrived: Replication, table: UnusualTable) -> None:
    assert arrived.differing("shop", (table,)) == {}


@pytest.mark.parametrize("table", KEYED, ids=lambda table: table.name)
def test_every_change_arrives_in_a_table_that_existed_before(arrived: Replication, table: UnusualTable) -> None:
    assert arrived.differing(EXISTING_SCHEMA, (table,)) == {}


def test_everything_still_runs(arrived: Replication) -> None:
    assert set(arrived.health().values()) == {"RUNNING"}


def test_table_whose_name_differs_by_case_alone_is_not_captured(arrived: Replication) -> None:
    topic = f"{arrived.pipeline['topic_prefix']}.{SOURCE_SCHEMA}.TWIN".replace("ä", "_").replace("ö", "_")
    assert arrived.headgate.records(topic.replace(" ", "_").replace("&", "_")) == 0


def test_truncate_is_not_delivered_and_the_stream_continues(arrived: Replication) -> None:
    (twin,) = [table for table in TABLES if table.name == "Twin"]
    before = arrived.target.content("shop", twin.name, twin.columns)
    arrived.source.run(
        *twin.statements(["TRUNCATE {t}", "INSERT INTO {t} VALUES (100, 'after the truncate')"], SOURCE_SCHEMA)
    )
    eventually(
        lambda: arrived.target.content("shop", twin.name, twin.columns),
        lambda rows: rows == sorted([*before, '(100,"after the truncate")']),
    )
    assert arrived.health()["auto"] == "RUNNING"
