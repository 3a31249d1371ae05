"""What breaks in production, on the real stack: nothing that is broken reads healthy, and what is healthy opens no
incident beside it.

Everything is deployed once, and the faults go on side by side while Headgate's own schedule ticks and looks. How long
each took to be seen is printed (-s) and recorded as a property of its test. It takes six to ten minutes, so it runs
only when it is asked for: pytest -c tests/pytest.ini -s -m long tests/e2e/test_timelines_on_real_servers.py
"""

import contextlib
import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import psycopg
import pytest
from confluent_kafka import TopicPartition
from confluent_kafka.admin import AdminClient

from infra.local.process.processes import ServerProcess
from tests.e2e.timelines import Fault, Recorder, resources
from tests.support.apps.real_headgate import Json, RealDatabase, RealHeadgate
from tests.support.databases.blocking_proxy import BlockingProxy
from tests.support.databases.postgresql import running_postgresql
from tests.support.real import RealStackInUse, other_worker
from tests.support.waiting import eventually

pytestmark = [pytest.mark.real, pytest.mark.long]

SEGMENT_BYTES = 16 * 1024**2
KEPT_FOR_SLOTS = {"limited": "96MB", "unlimited": "-1"}
"""Databases on servers of their own, and what these keep for a slot at the most (max_slot_wal_keep_size)."""


@dataclass(kw_only=True)
class Stage:
    """What is deployed, each by the name of its database or of its first table."""

    headgate: RealHeadgate
    worker: ServerProcess
    second_cluster: str
    proxy: BlockingProxy
    databases: dict[str, RealDatabase]
    earlier_incidents: frozenset[str]
    pipelines: dict[str, Json] = field(default_factory=dict)
    deliveries: dict[str, Json] = field(default_factory=dict)
    locks: list["psycopg.Connection[Any]"] = field(default_factory=list)
    changing: dict[str, str] = field(default_factory=lambda: {"steady": "shop"})
    """Tables, and the databases that they are in."""

    def path(self, name: str) -> str:
        return f"/pipelines/{self.pipelines[name]['id']}"

    def delivery(self, name: str) -> str:
        """The path of the delivery of the pipeline."""
        return f"/deliveries/{self.deliveries[name]['id']}"

    @property
    def paths(self) -> list[str]:
        return [*map(self.path, self.pipelines), *map(self.delivery, self.deliveries)]

    def topic(self, name: str) -> str:
        return str(self.pipelines[name]["topics"][0])

    def write(self) -> None:
        """A row more in each table that changes all the time."""
        for table, database in self.changing.items():
            self.insert(table, database=database)

    def insert(self, table: str, count: int = 1, database: str = "shop") -> None:
        first = f"(SELECT max(id) FROM shop.{table})"
        self.databases[database].run(f"INSERT INTO shop.{table} SELECT {first} + n FROM generate_series(1, {count}) n")


# what is deployed


def with_tables(headgate: RealHeadgate, name: str, *tables: str, server: str | None = None) -> RealDatabase:
    """A database with tables of one row."""
    statements = (
        f"CREATE TABLE shop.{table} AS SELECT 0 AS id; ALTER TABLE shop.{table} OWNER TO {{role}}; "
        f"ALTER TABLE shop.{table} ADD PRIMARY KEY (id)"
        for table in tables
    )
    return headgate.database(name, *statements, server=server)


@pytest.fixture(scope="module")
def stage(measured: RealHeadgate, real_stack_in_use: RealStackInUse, real_state: Path) -> Iterator[Stage]:
    headgate = measured
    with contextlib.ExitStack() as ends:
        # A sink whose write takes longer than this is put out of its group.
        settings = {"consumer.max.poll.interval.ms": "20000"}
        second = other_worker(real_stack_in_use, real_state / "second", name="second", settings=settings)
        url, worker = ends.enter_context(second)
        cluster = {"name": "second", "base_url": url, "stream_cluster_id": headgate.stream_cluster_id}
        databases = {"shop": with_tables(headgate, "shop", "steady", "stays", "leaves", "overtaken", "locked")}
        for name, kept in KEPT_FOR_SLOTS.items():
            options = {"max_slot_wal_keep_size": kept, "wal_init_zero": "off", "wal_recycle": "off", "fsync": "off"}
            server = ends.enter_context(running_postgresql(options))
            databases[name] = with_tables(headgate, name, name, server=server.url)
        away, databases["target"] = with_tables(headgate, "away", "away"), headgate.database("target")
        proxy = ends.enter_context(BlockingProxy(urlsplit(away.superuser).port or 5432))
        databases["away"] = replace(away, port=proxy.port)
        stage = Stage(
            headgate=headgate,
            worker=worker,
            second_cluster=headgate.post("/connect/clusters", cluster)["id"],
            proxy=proxy,
            databases=databases,
            earlier_incidents=frozenset(one["id"] for one in headgate.get("/operations/errors")),
        )
        deploy(stage)
        yield stage
        remove(stage)


def deploy(stage: Stage) -> None:
    """Every pipeline and delivery; then wait until all of them move and every source was looked at."""
    headgate, sources = stage.headgate, {}
    for name in ("shop", "away", *KEPT_FOR_SLOTS):
        sources[name] = headgate.source(stage.databases[name])
        headgate.discover(sources[name])
    destination = headgate.destination(stage.databases["target"])
    second = {"connect_cluster_id": stage.second_cluster}

    def pipeline(source: str, *tables: str, **more: str) -> None:
        made = headgate.pipeline(sources[source], [("shop", table) for table in tables], **more)
        stage.pipelines[tables[0]] = headgate.deploy(made) and made

    def delivery(name: str, **more: str) -> None:
        body = headgate.delivery_body(stage.pipelines[name], {stage.topic(name): name}, **more)
        stage.deliveries[name] = headgate.deliver(destination, body)

    at_once(
        lambda: pipeline("shop", "steady"),
        lambda: pipeline("shop", "locked", **second),
        lambda: pipeline("shop", "overtaken"),
        lambda: pipeline("shop", "leaves", "stays"),
        *(partial(pipeline, name, name) for name in ("away", *KEPT_FOR_SLOTS)),
    )
    at_once(lambda: delivery("steady"), lambda: delivery("locked", **second), lambda: delivery("overtaken"))
    for source in sources.values():
        headgate.look_at(source)
    for path in stage.paths:
        eventually(partial(headgate.get, f"{path}/status?fresh=true"), is_settled, seconds=240)


def is_settled(status: Json) -> bool:
    """Whether it runs, was measured and looked at. A delivery that has delivered everything does not move."""
    looked_at = "log" not in status or bool(status["log"] and status["progress"] and status["progress"]["moved_at"])
    return looked_at and bool(status["progress"]) and (status["observed_state"], status["reasons"]) == ("RUNNING", [])


def at_once(*steps: Callable[[], object]) -> None:
    """All of them, four at a time. Raises the first error."""
    with ThreadPoolExecutor(4) as pool:
        for done in [pool.submit(step) for step in steps]:
            done.result()


def remove(stage: Stage) -> None:
    """Everything but the sources, which nobody deploys from."""
    at_once(*(partial(stage.headgate.delete, stage.delivery(name)) for name in stage.deliveries))
    source_of = {name: name if name in stage.databases else "shop" for name in stage.pipelines}
    for name, pipeline in stage.pipelines.items():
        stage.headgate.delete_pipeline(pipeline, stage.databases[source_of[name]])
    stage.headgate.call("DELETE", f"/connect/clusters/{stage.second_cluster}", expect=204)


# what is broken


KILLED = "a worker that was killed"
UNREACHABLE = "endless retries behind RUNNING"
NARROWED = "a table that left the publication"
OVERTAKEN = "retention that overtook a paused sink"
LOST = "a slot that is lost"
UNLIMITED = "a slot that is retained without bound"
LOCKED = "a sink that was put out of its group"


@pytest.fixture(scope="module")
def faults(stage: Stage) -> dict[str, Fault]:
    publication = stage.pipelines["leaves"]["options"]["publication_name"]
    shop, overtaken = stage.databases["shop"], stage.delivery("overtaken")
    return {
        KILLED: Fault(
            paths=(stage.path("locked"), stage.delivery("locked")),
            codes=frozenset({"STREAM_CONNECT_UNAVAILABLE"}),
            # Nobody reads from its pipeline's slot meanwhile.
            others=frozenset({"CDC_REPLICATION_SLOT_ERROR"}),
            break_it=stage.worker.kill,
            repair_it=stage.worker.start,
        ),
        UNREACHABLE: Fault(
            paths=(stage.path("away"),),
            codes=frozenset({"SOURCE_CONNECTION_FAILED", "STALLED"}),
            break_it=stage.proxy.closed,
            repair_it=stage.proxy.open,
        ),
        NARROWED: Fault(
            paths=(stage.path("leaves"),),
            codes=frozenset({"CAPTURE_NARROWED"}),
            break_it=lambda: shop.run(f"ALTER PUBLICATION {publication} DROP TABLE shop.leaves"),
            repair_it=lambda: shop.run(f"ALTER PUBLICATION {publication} ADD TABLE shop.leaves"),
        ),
        OVERTAKEN: Fault(
            paths=(overtaken,),
            codes=frozenset({"CHANGES_LOST"}),
            break_it=lambda: remove_records(stage, "overtaken"),
            repair_it=lambda: go_on_behind_the_gap(stage, "overtaken"),
        ),
        LOST: Fault(
            paths=(stage.path("limited"),),
            codes=frozenset({"CHANGES_LOST"}),
            others=frozenset({"LOG_AT_RISK", "STALLED", "CDC_REPLICATION_SLOT_ERROR", "CONNECT_TASK_FAILED"}),
            break_it=lambda: lose_slot(stage, "limited"),
            repair_it=lambda: make_slot_again(stage, "limited"),
        ),
        UNLIMITED: Fault(
            paths=(stage.path("unlimited"),),
            codes=frozenset({"LOG_AT_RISK"}),
            break_it=lambda: grow_log(stage, "unlimited", segments=660),
            # One change does not do: a slot moves on past the last checkpoint (or 15 s) before what was confirmed.
            repair_it=lambda: stage.changing.update(unlimited="unlimited"),
        ),
        LOCKED: Fault(
            paths=(stage.delivery("locked"),),
            codes=frozenset({"STALLED"}),
            break_it=lambda: lock(stage, "locked"),
            repair_it=lambda: stage.locks.pop().close(),
        ),
    }


def pause_behind(stage: Stage, name: str) -> None:
    """Pause the delivery, and let records wait for it."""
    written = stage.headgate.records(stage.topic(name))
    stage.headgate.post(f"{stage.delivery(name)}/pause")
    stage.insert(name, 50)
    stage.headgate.until_records(stage.topic(name), written + 50)


def remove_records(stage: Stage, name: str) -> None:
    """As the topic's retention does."""
    topic = stage.topic(name)
    partition = TopicPartition(topic, 0, stage.headgate.records(topic))
    admin = AdminClient({"bootstrap.servers": stage.headgate.stack.addresses.kafka, "log_level": 0})
    admin.delete_records([partition])[partition].result(10)


def go_on_behind_the_gap(stage: Stage, name: str) -> None:
    """The delivery goes on, and a person resolves the incident: no look does, because the rows stay missing."""
    delivery, headgate = stage.delivery(name), stage.headgate
    headgate.post(f"{delivery}/resume")
    stage.insert(name)  # Connect commits nothing before it has delivered something.
    eventually(partial(headgate.get, f"{delivery}/status?fresh=true"), is_settled, seconds=240)
    active = headgate.get("/operations/errors?active=true&limit=500")
    (lost,) = (one for one in active if one["code"] == "CHANGES_LOST" and resources(one) == {delivery})
    headgate.call("PATCH", f"/operations/errors/{lost['id']}?status=RESOLVED")


def lose_slot(stage: Stage, database: str) -> None:
    """More is written than the server keeps for the slot."""
    grow_log(stage, database, segments=20)
    stage.databases[database].run("CHECKPOINT")


def make_slot_again(stage: Stage, database: str) -> None:
    """What a person does who accepts that changes were lost.

    The offset that Connect has stored is behind the new slot until the next change: on an idle server that may be long.
    """
    slot, one = stage.pipelines[database]["options"]["slot_name"], stage.databases[database]
    one.run(
        f"SELECT pg_drop_replication_slot('{slot}')", f"SELECT pg_create_logical_replication_slot('{slot}', 'pgoutput')"
    )
    stage.headgate.post(f"{stage.path(database)}/restart?accept_data_loss=true")
    stage.changing[database] = database


def grow_log(stage: Stage, database: str, *, segments: int) -> None:
    """The server's log grows, and no captured table changes: the slot stays where it is, although it is read.

    Segments of the log are ended early. Behind that point they are zeros, which are removed from the disk.
    """
    one, done = stage.databases[database], 0
    ((folder,),) = one.run("SELECT current_setting('data_directory') || '/pg_wal/'")
    first = one.run("SELECT pg_walfile_name(pg_current_wal_lsn())")[0][0]
    end = "SELECT pg_create_restore_point('test'), pg_switch_wal() FROM generate_series(1, 20)"
    while done < segments:
        current = one.run(end, "SELECT pg_walfile_name(pg_current_wal_lsn())")[0][0]
        for file in Path(folder).glob("[0-9A-F]*"):
            if first < file.name < current and len(file.name) == len(current):
                os.truncate(file, 1024**2)
                os.truncate(file, SEGMENT_BYTES)
        first, done = current, done + 20


def lock(stage: Stage, name: str) -> None:
    """A write into the target waits for a lock, longer than a consumer may go without asking for records."""
    target = stage.databases["target"]
    stage.locks.append(psycopg.connect(target.superuser, dbname=target.name, connect_timeout=10))
    stage.locks[0].execute(f"LOCK TABLE shop.{name} IN ACCESS EXCLUSIVE MODE".encode())
    stage.insert(name, 5)


# what is seen


@pytest.fixture(scope="module")
def recorder(stage: Stage, faults: dict[str, Fault]) -> Iterator[Recorder]:
    """It records, and all faults have begun but the one that needs the worker that was killed."""
    pause_behind(stage, "overtaken")
    recorder = Recorder(headgate=stage.headgate, paths=stage.paths, beside=stage.write)
    with recorder.recording():
        recorder.until(lambda _: True, since=0, seconds=60)
        for name in (KILLED, UNREACHABLE, NARROWED, OVERTAKEN, LOST, UNLIMITED):
            faults[name].begin(recorder.samples[-1])
        yield recorder
    for fault in faults.values():
        fault.repair()  # those that a failed test has left


def reported(recorder: Recorder, name: str, fault: Fault, record: Callable[[str, object], None]) -> None:
    """Wait until it is reported, print when that was, and repair it."""
    for what, seconds in recorder.reported(fault).items():
        print(f"\n{name}: {what} after {seconds:.0f} s", end="")
        record(what, round(seconds))
    fault.repair()
    assert recorder.healthy_again_too_early(fault) == []


def test_a_killed_worker_is_reported_and_what_it_ran_recovers(
    stage: Stage, recorder: Recorder, faults: dict[str, Fault], record_property: Callable[[str, object], None]
) -> None:
    reported(recorder, KILLED, faults[KILLED], record_property)
    print(f"\n{KILLED}: recovered after {recorder.recovered(faults[KILLED]):.0f} s")
    faults[LOCKED].begin(recorder.samples[-1])


@pytest.mark.parametrize("name", [UNREACHABLE, NARROWED, OVERTAKEN, LOST, UNLIMITED, LOCKED])
def test_it_is_reported_and_never_reads_healthy(
    name: str, recorder: Recorder, faults: dict[str, Fault], record_property: Callable[[str, object], None]
) -> None:
    reported(recorder, name, faults[name], record_property)


@pytest.mark.parametrize("name", [UNREACHABLE, NARROWED, OVERTAKEN, LOST, UNLIMITED, LOCKED])
def test_it_is_resolved_by_its_recovery(
    name: str, recorder: Recorder, faults: dict[str, Fault], record_property: Callable[[str, object], None]
) -> None:
    seconds = recorder.recovered(faults[name])
    print(f"\n{name}: recovered after {seconds:.0f} s", end="")
    record_property("recovered", round(seconds))


def test_a_healthy_pipeline_and_its_delivery_open_no_incident_meanwhile(stage: Stage, recorder: Recorder) -> None:
    healthy = (stage.path("steady"), stage.delivery("steady"))
    said = {one for sample in recorder.samples for path in healthy for one in sample.said[path]}
    assert said == {("RUNNING", ())}
    count = stage.databases["shop"].run("SELECT max(id) FROM shop.steady")
    eventually(lambda: stage.databases["target"].run("SELECT max(id) FROM shop.steady"), lambda seen: seen >= count)


def test_no_incident_is_about_anything_else(stage: Stage, recorder: Recorder, faults: dict[str, Fault]) -> None:
    every = [*faults.values()]
    expected = {(path, code) for fault in every for path in fault.paths for code in fault.codes | fault.others}
    expected.add((None, "STREAM_CONNECT_UNAVAILABLE"))
    new = [one for one in recorder.samples[-1].incidents if one["id"] not in stage.earlier_incidents]
    assert {(path, one["code"]) for one in new for path in resources(one)} - expected == set()
    assert recorder.failures == []
