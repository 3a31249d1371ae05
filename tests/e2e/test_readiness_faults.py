"""Each fault of a source is reported before anything is created; when it is repaired, the same draft is deployed."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

import psycopg
import pytest

from tests.e2e.source_faults import EXISTING, OWNER_FAULTS, PUBLISHED, READER_FAULTS, READS_ONLY, Fault
from tests.support.apps.real_headgate import Json, RealDatabase, RealHeadgate
from tests.support.databases.blocking_proxy import BlockingProxy
from tests.support.databases.postgresql import RunningPostgreSQL, reader_of, running_postgresql
from tests.support.waiting import eventually

pytestmark = pytest.mark.real

ORDERS = ("shop", "orders")
SETUP = (
    "CREATE TABLE shop.orders (id int PRIMARY KEY, customer text)",
    "ALTER TABLE shop.orders OWNER TO {role}",
    "INSERT INTO shop.orders VALUES (1, 'one')",
)


@dataclass(frozen=True, kw_only=True)
class SourceUnderTest:
    """A working source whose tables were discovered. Tests break it."""

    headgate: RealHeadgate
    database: RealDatabase
    source: Json

    def run(self, statements: Sequence[str]) -> None:
        self.database.run(*(statement.replace("{database}", self.database.name) for statement in statements))

    def body(self, options: Json) -> Json:
        filled_in = {
            key: value.replace("{database}", self.database.name) if isinstance(value, str) else value
            for key, value in options.items()
        }
        return self.headgate.pipeline_body(self.source, [ORDERS], options=filled_in)

    def slots(self) -> list[str]:
        query = "SELECT slot_name::text FROM pg_replication_slots WHERE database = current_database()"
        return [name for (name,) in self.database.run(query)]

    def publications(self) -> list[str]:
        return [name for (name,) in self.database.run("SELECT pubname::text FROM pg_publication")]


def prepare_source(
    headgate: RealHeadgate, before: Sequence[str] = (), server: str | None = None, **config: Any
) -> SourceUnderTest:
    database = headgate.database("fault", *SETUP, *before, server=server)
    source = headgate.source(database, **config)
    headgate.discover(source)
    return SourceUnderTest(headgate=headgate, database=database, source=source)


def failing(error: Json) -> set[str]:
    """The readiness checks that an error names."""
    assert error["code"] == "SOURCE_NOT_READY", error
    assert all(check["recommended_action"] for check in error["details"]["checks"])
    return {check["key"] for check in error["details"]["checks"]}


def assert_refused(under_test: SourceUnderTest, pipeline: Json, checks: set[str]) -> Json:
    """Asserts that a deploy is refused for these checks and leaves only the draft. Returns the checks, by key."""
    headgate, before = under_test.headgate, (under_test.publications(), under_test.slots())
    error = headgate.refused(f"/pipelines/{pipeline['id']}/deploy")
    assert failing(error) == checks
    assert_nothing_created(headgate, pipeline, "SOURCE_NOT_READY")
    assert (under_test.publications(), under_test.slots()) == before
    return {check["key"]: check for check in error["details"]["checks"]}


def assert_nothing_created(headgate: RealHeadgate, pipeline: Json, code: str) -> None:
    """Asserts that the pipeline is a draft with this error, and that Connect has no connector for it."""
    draft = headgate.get(f"/pipelines/{pipeline['id']}")
    assert (draft["desired_state"], draft["observed_state"]) == ("DRAFT", "NOT_DEPLOYED")
    assert draft["open_operation"] is None
    assert draft["last_error"]["code"] == code
    assert pipeline["connector_name"] not in headgate.connectors()


def assert_draft_deploys(under_test: SourceUnderTest, pipeline: Json) -> None:
    """Deploys the same draft; a row of the snapshot and a change arrive."""
    under_test.headgate.deploy(pipeline)
    (topic,) = pipeline["topics"]
    under_test.headgate.until_records(topic, 1)
    under_test.run(["UPDATE shop.orders SET customer = 'two'"])
    under_test.headgate.until_records(topic, 2)
    under_test.headgate.delete_pipeline(pipeline, under_test.database)


@dataclass(frozen=True, kw_only=True)
class DraftedPipeline:
    """A working source with one draft of a pipeline, for all faults of one group."""

    under_test: SourceUnderTest
    options: Json
    pipeline: Json

    def assert_refused_while_broken(self, fault: Fault) -> None:
        """Breaks the source; the draft is not deployed and no second one is created; repairs the source."""
        self.under_test.run(fault.breaks)
        try:
            assert_refused(self.under_test, self.pipeline, {fault.check})
            if fault.check != "slot":
                body = self.under_test.body({**self.options, "slot_name": "not_the_drafts"})
                assert failing(self.under_test.headgate.refused("/pipelines", body)) == {fault.check}
        finally:
            self.under_test.run(fault.repairs)


@pytest.fixture(scope="module")
def owner(headgate: RealHeadgate) -> DraftedPipeline:
    under_test = prepare_source(headgate)
    return DraftedPipeline(under_test=under_test, options={}, pipeline=headgate.post("/pipelines", under_test.body({})))


@pytest.fixture(scope="module")
def reader(headgate: RealHeadgate) -> DraftedPipeline:
    under_test = prepare_source(headgate, READS_ONLY)
    return DraftedPipeline(
        under_test=under_test, options=EXISTING, pipeline=headgate.post("/pipelines", under_test.body(EXISTING))
    )


@pytest.mark.parametrize("name", OWNER_FAULTS)
def test_fault_is_reported_by_its_check_and_nothing_is_created(owner: DraftedPipeline, name: str) -> None:
    owner.assert_refused_while_broken(OWNER_FAULTS[name])


@pytest.mark.parametrize("name", READER_FAULTS)
def test_fault_with_an_existing_publication_is_reported_by_its_check(reader: DraftedPipeline, name: str) -> None:
    reader.assert_refused_while_broken(READER_FAULTS[name])


def test_draft_that_was_refused_for_every_fault_is_deployed_once_all_are_repaired(owner: DraftedPipeline) -> None:
    assert_draft_deploys(owner.under_test, owner.pipeline)


def test_draft_of_a_reader_is_deployed_once_all_faults_are_repaired(reader: DraftedPipeline) -> None:
    assert_draft_deploys(reader.under_test, reader.pipeline)


def test_slot_that_another_client_reads_is_refused_until_it_disconnects(headgate: RealHeadgate) -> None:
    under_test = prepare_source(headgate, [PUBLISHED])
    pipeline = headgate.post("/pipelines", under_test.body({**EXISTING, "adopt_existing": True}))
    slot = pipeline["options"]["slot_name"]
    under_test.run([f"SELECT pg_create_logical_replication_slot('{slot}', 'pgoutput')"])
    address = urlsplit(headgate.stack.addresses.postgres)
    server = RunningPostgreSQL(
        port=under_test.database.port, superuser_password=address.password or "", log=headgate.stack.postgres.plan.log
    )
    with reader_of(server, under_test.database.name, slot, "existing_publication"):
        assert_refused(under_test, pipeline, {"slot"})
    assert_draft_deploys(under_test, pipeline)


def test_two_tables_of_one_topic_are_refused(headgate: RealHeadgate) -> None:
    names = ("two words", "two_words")
    under_test = prepare_source(
        headgate,
        [
            statement
            for name in names
            for statement in (
                f'CREATE TABLE shop."{name}" (id int PRIMARY KEY)',
                f'ALTER TABLE shop."{name}" OWNER TO {{role}}',
            )
        ],
    )
    body = headgate.pipeline_body(under_test.source, [("shop", name) for name in names])
    assert failing(headgate.refused("/pipelines", body)) == {"topic_names"}


def test_config_that_connect_refuses_is_reported_by_field(headgate: RealHeadgate) -> None:
    under_test = prepare_source(headgate)
    body = headgate.pipeline_body(under_test.source, [ORDERS], options={"max_batch_size": 500, "max_queue_size": 10})
    error = headgate.refused("/pipelines", body)
    assert error["code"] == "CONNECTOR_CONFIG_INVALID"
    assert "max.queue.size" in {one["field"] for one in error["details"]["errors"]}


# servers that cannot be reached

UNREACHABLE = {
    "wrong password": ("AUTHENTICATION_FAILED", ["ALTER ROLE {role} PASSWORD 'another'"]),
    "role that may not log in": ("ACCESS_NOT_ALLOWED", ["ALTER ROLE {role} NOLOGIN"]),
    "no CONNECT on the database": ("PERMISSION_DENIED", ["REVOKE CONNECT ON DATABASE {database} FROM PUBLIC"]),
}


@pytest.mark.parametrize("name", UNREACHABLE)
def test_server_that_refuses_the_account_fails_the_connection_check(headgate: RealHeadgate, name: str) -> None:
    code, breaks = UNREACHABLE[name]
    under_test = prepare_source(headgate)
    pipeline = headgate.post("/pipelines", under_test.body({}))
    under_test.run(breaks)
    checks = assert_refused(under_test, pipeline, {"connection"})
    assert checks["connection"]["current_value"] == code
    assert failing(headgate.refused("/pipelines", under_test.body({}))) == {"connection"}


def can_sign_in(database: RealDatabase) -> bool:
    try:
        psycopg.connect(
            host=database.host, port=database.port, dbname=database.name, user=database.username,
            password=database.password, connect_timeout=5,
        ).close()  # fmt: skip
    except psycopg.OperationalError:
        return False
    return True


def write_access_rules(database: RealDatabase, rules: Sequence[str]) -> None:
    """Writes the server's access list (pg_hba.conf) and reloads it."""
    ((path,),) = database.run("SHOW hba_file")
    lines = ", ".join(f"({at}, '{line}')" for at, line in enumerate(rules))
    listed = f"SELECT line FROM (VALUES {lines}) AS rules (at, line) ORDER BY at"
    database.run(f"COPY ({listed}) TO '{path}'", "SELECT pg_reload_conf()")


@contextmanager
def refused_by_the_access_list(database: RealDatabase) -> Iterator[None]:
    """Inside the block the server refuses the role from every host, with any password."""
    ((text,),) = database.run("SELECT pg_read_file(current_setting('hba_file'))")
    rules = [line for line in text.splitlines() if line.strip() and not line.startswith("#")]
    write_access_rules(database, [f"host all {database.username} all reject", *rules])
    try:
        eventually(lambda: not can_sign_in(database))
        yield
    finally:
        write_access_rules(database, rules)


def test_server_whose_access_list_refuses_the_role_fails_the_connection_check(headgate: RealHeadgate) -> None:
    under_test = prepare_source(headgate)
    pipeline = headgate.post("/pipelines", under_test.body({}))
    with refused_by_the_access_list(under_test.database):
        checks = assert_refused(under_test, pipeline, {"connection"})
        assert checks["connection"]["current_value"] == "ACCESS_NOT_ALLOWED"
    eventually(lambda: can_sign_in(under_test.database))
    headgate.deploy(pipeline)
    headgate.delete_pipeline(pipeline, under_test.database)


@pytest.fixture
def proxy(headgate: RealHeadgate) -> Iterator[BlockingProxy]:
    with BlockingProxy(urlsplit(headgate.stack.addresses.postgres).port or 0) as opened:
        yield opened


@pytest.mark.parametrize(
    ("failure", "code"), [("silent", "TIMEOUT"), ("closed", "CONNECTION_REFUSED")], ids=["silent host", "closed port"]
)
def test_host_that_does_not_respond_is_refused_in_time_and_accepted_when_it_responds(
    headgate: RealHeadgate, proxy: BlockingProxy, failure: str, code: str
) -> None:
    under_test = prepare_source(headgate, port=proxy.port)
    pipeline = headgate.post("/pipelines", under_test.body({}))
    getattr(proxy, failure)()
    checks = assert_refused(under_test, pipeline, {"connection"})
    assert checks["connection"]["current_value"] == code
    assert failing(headgate.refused("/pipelines", under_test.body({}))) == {"connection"}
    proxy.open()
    assert_draft_deploys(under_test, pipeline)


def test_database_that_is_gone_is_refused(headgate: RealHeadgate) -> None:
    under_test = prepare_source(headgate)
    pipeline = headgate.post("/pipelines", under_test.body({}))
    postgres = headgate.database("elsewhere")
    postgres.run(f"ALTER DATABASE {under_test.database.name} RENAME TO {under_test.database.name}_away")
    error = headgate.refused(f"/pipelines/{pipeline['id']}/deploy")
    assert failing(error) == {"connection"}
    assert error["details"]["checks"][0]["current_value"] == "DATABASE_NOT_FOUND"
    assert_nothing_created(headgate, pipeline, "SOURCE_NOT_READY")


# servers of one test


def url_of(server: RunningPostgreSQL) -> str:
    """Connection string of the server's superuser."""
    return f"postgresql://postgres:{server.superuser_password}@127.0.0.1:{server.port}/postgres"


def test_server_whose_wal_level_is_too_low_is_refused(headgate: RealHeadgate) -> None:
    with running_postgresql({"wal_level": "replica"}) as server:
        under_test = prepare_source(headgate, server=url_of(server))
        assert failing(headgate.refused("/pipelines", under_test.body({}))) == {"wal_level"}


def test_server_without_a_free_slot_or_sender_is_refused_until_there_is_one(headgate: RealHeadgate) -> None:
    with running_postgresql({"max_replication_slots": "2", "max_wal_senders": "1"}) as server:
        under_test = prepare_source(headgate, [PUBLISHED], server=url_of(server))
        pipeline = headgate.post("/pipelines", under_test.body(EXISTING))
        under_test.run(["SELECT pg_create_logical_replication_slot('other_slot', 'pgoutput')"])
        with reader_of(server, under_test.database.name, "other_slot", "existing_publication"):
            assert_refused(under_test, pipeline, {"wal_senders"})
        under_test.run(["SELECT pg_create_physical_replication_slot('another')"])
        assert_refused(under_test, pipeline, {"replication_slots"})
        under_test.run([f"SELECT pg_drop_replication_slot('{name}')" for name in ("another", "other_slot")])
        assert_draft_deploys(under_test, pipeline)
