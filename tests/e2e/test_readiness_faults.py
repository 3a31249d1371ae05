"""Each fault of a source is named before anything is made, and once it is mended the same draft is deployed."""

import contextlib
import socket
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Any

import pytest

from tests.support.postgresql import reader_of, running_postgresql
from tests.support.real_headgate import Json, Place, RealHeadgate, eventually

pytestmark = pytest.mark.real

ORDERS = ("shop", "orders")
GOOD_ORDER = (
    "CREATE TABLE shop.orders (id int PRIMARY KEY, customer text)",
    "ALTER TABLE shop.orders OWNER TO {role}",
    "INSERT INTO shop.orders VALUES (1, 'one')",
)
EXISTING: Json = {"publication_mode": "existing", "publication_name": "made_before", "slot_name": "{database}_slot"}
FOREIGN = "ALTER TABLE shop.orders OWNER TO postgres"
READABLE = "GRANT SELECT ON shop.orders TO {role}"
PUBLISHED = "CREATE PUBLICATION made_before FOR TABLE shop.orders"


@dataclass(frozen=True, kw_only=True)
class Fault:
    """What breaks a source that is in good order and what mends it; `check` is the readiness check that must say so.

    `before` belongs to the good order of this fault. `silently` is what Connect would have done with it: nothing.
    """

    check: str
    breaks: Sequence[str]
    mends: Sequence[str]
    before: Sequence[str] = ()
    options: Json = field(default_factory=dict)


FAULTS = {
    "no REPLICATION": Fault(
        check="replication_privilege",
        breaks=["ALTER ROLE {role} NOREPLICATION"],
        mends=["ALTER ROLE {role} REPLICATION"],
    ),
    "no CREATE on the database": Fault(
        check="publication_rights",
        breaks=["REVOKE CREATE ON DATABASE {database} FROM {role}"],
        mends=["GRANT CREATE ON DATABASE {database} TO {role}"],
    ),
    "not owner of the table": Fault(
        check="publication_rights", breaks=[FOREIGN, READABLE], mends=["ALTER TABLE shop.orders OWNER TO {role}"]
    ),
    "publication missing": Fault(
        check="publication",
        before=[PUBLISHED],
        breaks=["DROP PUBLICATION made_before"],
        mends=[PUBLISHED],
        options=EXISTING,
    ),
    "publication without the table": Fault(
        check="publication_tables",
        before=[PUBLISHED],
        breaks=["ALTER PUBLICATION made_before DROP TABLE shop.orders"],
        mends=["ALTER PUBLICATION made_before ADD TABLE shop.orders"],
        options=EXISTING,
    ),
    "publication of inserts only": Fault(
        check="publication_operations",
        before=[PUBLISHED],
        breaks=["ALTER PUBLICATION made_before SET (publish = 'insert')"],
        mends=["ALTER PUBLICATION made_before SET (publish = 'insert, update, delete, truncate')"],
        options=EXISTING,
    ),
    "no SELECT on the table": Fault(
        check="select_privilege",
        before=[PUBLISHED, FOREIGN, READABLE],
        breaks=["REVOKE SELECT ON shop.orders FROM {role}"],
        mends=[READABLE],
        options=EXISTING,
    ),
    "no SELECT on a column": Fault(
        check="select_privilege",
        before=[PUBLISHED, FOREIGN, READABLE],
        breaks=["REVOKE SELECT ON shop.orders FROM {role}", "GRANT SELECT (id) ON shop.orders TO {role}"],
        mends=[READABLE],
        options=EXISTING,
    ),
    "no USAGE on the schema": Fault(
        check="schema_usage",
        before=[PUBLISHED, FOREIGN, READABLE],
        breaks=["ALTER SCHEMA shop OWNER TO postgres"],
        mends=["GRANT USAGE ON SCHEMA shop TO {role}"],
        options=EXISTING,
    ),
    "row level security": Fault(
        check="row_security",
        before=[PUBLISHED, FOREIGN, READABLE],
        breaks=["ALTER TABLE shop.orders ENABLE ROW LEVEL SECURITY"],
        mends=["ALTER ROLE {role} BYPASSRLS"],
        options=EXISTING,
    ),
    "unlogged table": Fault(
        check="logged_tables",
        breaks=["ALTER TABLE shop.orders SET UNLOGGED"],
        mends=["ALTER TABLE shop.orders SET LOGGED"],
    ),
    "columns that differ by case": Fault(
        check="column_names",
        breaks=['ALTER TABLE shop.orders ADD COLUMN "Customer" text'],
        mends=['ALTER TABLE shop.orders RENAME COLUMN "Customer" TO customer_2'],
    ),
    "connection limit": Fault(
        check="connection_limit",
        breaks=["ALTER ROLE {role} CONNECTION LIMIT 1"],
        mends=["ALTER ROLE {role} CONNECTION LIMIT 9"],
    ),
    "no usable replica identity": Fault(
        check="replica_identity",
        breaks=["ALTER TABLE shop.orders REPLICA IDENTITY NOTHING"],
        mends=["ALTER TABLE shop.orders REPLICA IDENTITY DEFAULT"],
    ),
    "table that is gone": Fault(
        check="tables",
        breaks=["ALTER TABLE shop.orders RENAME TO elsewhere"],
        mends=["ALTER TABLE shop.elsewhere RENAME TO orders"],
    ),
    "slot of another database": Fault(
        check="slot",
        breaks=["SELECT pg_create_physical_replication_slot('{database}_slot')"],
        mends=["SELECT pg_drop_replication_slot('{database}_slot')"],
        options={"slot_name": "{database}_slot"},
    ),
}


@dataclass(frozen=True, kw_only=True)
class Bench:
    """A source in good order, discovered, and ready to be broken."""

    headgate: RealHeadgate
    place: Place
    source: Json

    def run(self, statements: Sequence[str]) -> None:
        """Runs statements on the source."""
        self.place.run(*(statement.replace("{database}", self.place.database) for statement in statements))

    def body(self, options: Json) -> Json:
        """The input of a pipeline over the orders."""
        named = {key: value.replace("{database}", self.place.database) for key, value in options.items()}
        return self.headgate.pipeline_body(self.source, [ORDERS], options=named)

    def slots(self) -> list[str]:
        """Slots of the source's database."""
        query = "SELECT slot_name::text FROM pg_replication_slots WHERE database = current_database()"
        return [name for (name,) in self.place.run(query)]

    def publications(self) -> list[str]:
        """Publications in the source's database."""
        return [name for (name,) in self.place.run("SELECT pubname::text FROM pg_publication")]


def bench(headgate: RealHeadgate, before: Sequence[str] = (), server: str | None = None) -> Bench:
    """A source in good order."""
    place = headgate.database("fault", *GOOD_ORDER, *before, server=server)
    source = headgate.source(place)
    headgate.discover(source)
    return Bench(headgate=headgate, place=place, source=source)


def failing(error: Json) -> set[str]:
    """The readiness checks that an error names."""
    assert error["code"] == "SOURCE_NOT_READY", error
    assert all(check["recommended_action"] for check in error["details"]["checks"])
    return {check["key"] for check in error["details"]["checks"]}


def connector_of(headgate: RealHeadgate, pipeline: Json) -> Any:
    """What Connect knows of the pipeline's connector; None when there is none."""
    return headgate.connectors().get(pipeline["connector_name"])


@pytest.mark.parametrize("name", FAULTS)
def test_fault_is_named_before_anything_is_made_and_the_draft_deploys_once_it_is_mended(
    headgate: RealHeadgate, name: str
) -> None:
    fault = FAULTS[name]
    it = bench(headgate, fault.before)
    pipeline = headgate.post("/pipelines", it.body(fault.options))
    made = it.publications(), it.slots()
    it.run(fault.breaks)

    refused_draft = it.body({**fault.options, **({"slot_name": "another"} if not fault.options else {})})
    error = headgate.refused("/pipelines", refused_draft)
    assert fault.check in failing(error)
    error = headgate.refused(f"/pipelines/{pipeline['id']}/deploy")
    assert failing(error) == {fault.check}
    draft = headgate.get(f"/pipelines/{pipeline['id']}")
    assert (draft["desired_state"], draft["observed_state"]) == ("DRAFT", "NOT_DEPLOYED")
    assert draft["open_operation"] is None
    assert draft["last_error"]["code"] == "SOURCE_NOT_READY"
    assert connector_of(headgate, pipeline) is None
    it.run(fault.mends)
    assert (it.publications(), it.slots()) == made
    headgate.deploy(headgate.get(f"/pipelines/{pipeline['id']}"))
    until_row_travels(headgate, it, pipeline)
    headgate.delete(f"/pipelines/{pipeline['id']}")
    it.forget(pipeline)
