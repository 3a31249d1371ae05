"""The reported states are the real ones: with a killed worker, failed tasks, unreadable secrets, changed passwords.

One pipeline and one delivery for all tests; each test leaves them running, and may be the first.
"""

import json
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest

from infra.local.stack.fetch import fetch_all
from tests.support.apps.real_headgate import Json, RealDatabase, RealHeadgate
from tests.support.real import RealStackInUse, other_worker
from tests.support.waiting import eventually

pytestmark = pytest.mark.real

PARTS_OF_A_TRACE = ("Exception", "Caused by", "\\tat ", "org.apache", "org.postgresql", "io.debezium")
SETTLED = 60.0


@dataclass
class Running:
    """A pipeline over `shop.orders` with a delivery into a table of the same name."""

    headgate: RealHeadgate
    source: RealDatabase
    target: RealDatabase
    registered: Json
    pipeline: Json
    delivery: Json
    source_password: str
    last: int = 0

    def change(self) -> int:
        """Inserts one row at the source; its key."""
        self.last += 1
        self.source.run(f"INSERT INTO shop.orders VALUES ({self.last}, 'n{self.last}')")
        return self.last

    def until_arrived(self) -> None:
        """Inserts a row and waits until it has arrived in the target, and its position is stored."""
        key = self.change()
        eventually(lambda: self.target.run(f"SELECT 1 FROM shop.orders WHERE id = {key}"), seconds=SETTLED)
        self.until_stored()

    def until_stored(self) -> None:
        """Waits until Connect has stored what the slot has confirmed. When a worker is killed before that, or a task
        that is stopped does not end in time, the offset may be before the beginning of the slot, and Debezium does not
        start again.
        """
        connect, name = self.headgate.stack.addresses.connect, self.pipeline["connector_name"]
        slot = self.pipeline["options"]["slot_name"]
        confirmed = f"SELECT confirmed_flush_lsn - '0/0' FROM pg_replication_slots WHERE slot_name = '{slot}'"

        def is_stored() -> bool:
            ((position,),) = self.source.run(confirmed)
            stored = httpx.get(f"{connect}/connectors/{name}/offsets").json()["offsets"]
            return any(each["offset"].get("lsn_proc", 0) >= position for each in stored)

        eventually(is_stored)

    @property
    def pipeline_status(self) -> str:
        return f"/pipelines/{self.pipeline['id']}/status?fresh=true"

    @property
    def delivery_status(self) -> str:
        return f"/deliveries/{self.delivery['id']}/status?fresh=true"


@pytest.fixture(scope="module")
def running(headgate: RealHeadgate) -> Iterator[Running]:
    table = ("CREATE TABLE shop.orders (id int PRIMARY KEY, customer text)", "ALTER TABLE shop.orders OWNER TO {role}")
    source, target = headgate.database("truth", *table), headgate.database("mirror", table[0])
    target.run("GRANT INSERT, UPDATE, DELETE, SELECT ON shop.orders TO {role}")
    source.run("INSERT INTO shop.orders VALUES (0, 'first')")
    registered = headgate.source(source)
    headgate.discover(registered)
    pipeline = headgate.pipeline(registered, [("shop", "orders")])
    headgate.deploy(pipeline)
    delivery = headgate.deliver(
        headgate.destination(target), headgate.delivery_body(pipeline, {pipeline["topics"][0]: "orders"})
    )
    scenario = Running(
        headgate=headgate,
        source=source,
        target=target,
        registered=registered,
        pipeline=pipeline,
        delivery=delivery,
        source_password=source.password,
    )
    scenario.until_arrived()
    yield scenario
    headgate.delete(f"/deliveries/{delivery['id']}")
    headgate.delete_pipeline(pipeline, source)


def test_failed_task_is_shown_with_a_hint_and_without_its_trace(running: Running) -> None:
    headgate = running.headgate
    running.target.run("REVOKE INSERT ON shop.orders FROM {role}")
    running.change()
    seen = headgate.until_state(running.delivery_status, "DEGRADED", "FAILED", within=SETTLED)
    (task,) = seen["tasks"]
    assert task["state"] == "FAILED"
    assert task["hint"]["event_type"]
    assert task["hint"]["message"] in " ".join(seen["reasons"])
    headgate.tick()
    shown = eventually(
        lambda: headgate.get(f"/deliveries/{running.delivery['id']}"),
        lambda delivery: delivery["observed_state"] in ("DEGRADED", "FAILED"),
    )
    pipeline = headgate.get(f"/pipelines/{running.pipeline['id']}")
    # A config contains names of Java classes; that is no leak.
    del pipeline["config"]
    everything = [seen, shown, pipeline, headgate.get("/deliveries"), headgate.get("/audit?limit=100")]
    responses = json.dumps([*everything, headgate.get(f"/destinations/{shown['destination_id']}/status")])
    assert [part for part in PARTS_OF_A_TRACE if part in responses] == []
    running.target.run("GRANT INSERT ON shop.orders TO {role}")
    headgate.post(f"/deliveries/{running.delivery['id']}/restart-task?task=0")
    headgate.until_state(running.delivery_status, "RUNNING", within=SETTLED)
    running.until_arrived()


def test_connector_whose_secrets_cannot_be_read_is_not_shown_as_running(
    running: Running, service_credential_file: Path
) -> None:
    headgate, right = running.headgate, service_credential_file.read_text()
    service_credential_file.write_text("not-the-credential\n")
    try:
        headgate.post(f"/pipelines/{running.pipeline['id']}/restart")
        first = headgate.until_state(running.pipeline_status, "RESTARTING", "FAILED", "DEGRADED", "UNASSIGNED")
        # It stays in that state: a restart without secrets hangs.
        until = time.monotonic() + 5
        while time.monotonic() < until:
            assert headgate.get(running.pipeline_status)["observed_state"] != "RUNNING"
            time.sleep(0.2)
        assert first["reasons"]
    finally:
        service_credential_file.write_text(right)
    headgate.post(f"/pipelines/{running.pipeline['id']}/restart")
    headgate.until_state(running.pipeline_status, "RUNNING", within=SETTLED)
    running.until_arrived()


@pytest.fixture
def service_credential_file(real_state: Path) -> Path:
    """The file that the worker's secret provider reads before each request."""
    return real_state / "state" / "connect" / "service-credential"


def test_password_of_a_source_is_rotated(running: Running) -> None:
    headgate, path = running.headgate, f"/sources/{running.registered['id']}"
    running.source_password = "the next one"
    running.source.run(
        "ALTER ROLE {role} PASSWORD 'the next one'",
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = '{role}'",
    )
    body = {key: running.registered[key] for key in ("name", "provider", "config")}
    assert headgate.post(f"{path}/test")["success"] is False
    changed = headgate.call("PUT", path, {**body, "credentials": {"password": "the next one"}})
    assert changed["credentials"] == {"configured": True, "mask": "********"}
    assert headgate.post(f"{path}/test")["success"] is True
    headgate.post(f"/pipelines/{running.pipeline['id']}/restart")
    headgate.until_state(running.pipeline_status, "RUNNING", within=SETTLED)
    running.until_arrived()


def rotate(running: Running, database: RealDatabase, path: str, password: str) -> None:
    """Changes the account's password in the database, ends its connections, and tells Headgate the new one."""
    database.run(
        f"ALTER ROLE {{role}} PASSWORD '{password}'",
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = '{role}'",
    )
    shown = running.headgate.get(path)
    body = {key: shown[key] for key in ("name", "provider", "config")}
    running.headgate.call("PUT", path, {**body, "credentials": {"password": password}})


NEWER = "are newer than those that its connector has"


def test_rotated_password_of_a_source_reaches_its_connector_by_a_deploy_and_the_status_says_so_until_then(
    running: Running,
) -> None:
    headgate, path = running.headgate, f"/pipelines/{running.pipeline['id']}"
    running.source_password = "the third one"
    rotate(running, running.source, f"/sources/{running.registered['id']}", running.source_password)
    for shown in (headgate.get(running.pipeline_status), headgate.get(path)):
        assert NEWER in " ".join(shown["reasons"])
    headgate.post(f"{path}/deploy")
    headgate.until_state(running.pipeline_status, "RUNNING", within=SETTLED)
    running.until_arrived()
    for shown in (headgate.get(running.pipeline_status), headgate.get(path)):
        assert NEWER not in " ".join(shown["reasons"])


def test_rotated_password_of_a_destination_reaches_its_connector_with_its_mappings(running: Running) -> None:
    headgate, path = running.headgate, f"/deliveries/{running.delivery['id']}"
    rotate(running, running.target, f"/destinations/{running.delivery['destination_id']}", "the other one")
    for shown in (headgate.get(running.delivery_status), headgate.get(path)):
        assert NEWER in " ".join(shown["reasons"])
    headgate.call("PUT", f"{path}/mappings", {"mappings": running.delivery["mappings"]})
    headgate.until_state(running.delivery_status, "RUNNING", within=SETTLED)
    running.until_arrived()
    assert NEWER not in " ".join(headgate.get(running.delivery_status)["reasons"])


def test_changed_source_reaches_its_connector_when_the_pipeline_is_deployed_again(running: Running) -> None:
    headgate, path = running.headgate, f"/pipelines/{running.pipeline['id']}"
    config = {**running.registered["config"], "ssl_mode": "disable"}
    body = {"name": running.registered["name"], "provider": "postgresql", "config": config, "credentials": {}}
    headgate.call("PUT", f"/sources/{running.registered['id']}", body, expect=422)
    body["credentials"] = {"password": running.source_password}
    headgate.call("PUT", f"/sources/{running.registered['id']}", body)
    assert "Its source was changed" in " ".join(headgate.get(path)["reasons"])
    running.until_arrived()
    headgate.post(f"{path}/deploy")
    headgate.until_state(running.pipeline_status, "RUNNING", within=SETTLED)
    running.until_arrived()
    deployed = httpx.get(
        f"{headgate.stack.addresses.connect}/connectors/{running.pipeline['connector_name']}/config"
    ).json()
    assert deployed["database.sslmode"] == "disable"
    # The row may have arrived by the former task, just before the connector was started again.
    eventually(
        lambda: headgate.get(running.pipeline_status),
        lambda seen: seen["reasons"] == [],
        seconds=SETTLED,
    )


def test_killed_worker_is_reported_as_unknown_at_once_and_as_running_after_its_restart(running: Running) -> None:
    headgate = running.headgate
    running.until_stored()
    headgate.stack.connect.kill()
    start = time.monotonic()
    for path in (running.pipeline_status, running.delivery_status):
        seen = headgate.get(path)
        assert seen["observed_state"] == "UNKNOWN"
        assert seen["reasons"]
    assert time.monotonic() - start < 20
    headgate.tick()
    lists = (f"/pipelines/{running.pipeline['id']}", f"/deliveries/{running.delivery['id']}")
    for path in lists:
        shown = headgate.until_state(path, "UNKNOWN")
        assert (shown["desired_state"], bool(shown["reasons"])) == ("RUNNING", True)
    error = headgate.refused(f"/pipelines/{running.pipeline['id']}/pause", status=503)
    assert error["code"] == "CONNECT_UNAVAILABLE"

    headgate.stack.connect.start()
    headgate.until_state(running.pipeline_status, "RUNNING", within=SETTLED)
    headgate.until_state(running.delivery_status, "RUNNING", within=SETTLED)
    running.until_arrived()
    headgate.tick()
    for path in lists:
        headgate.until_state(path, "RUNNING")


def test_connectors_of_a_worker_that_started_without_secrets_are_restarted_by_ticks(
    running: Running, service_credential_file: Path
) -> None:
    """Without any action of a user."""
    headgate, right = running.headgate, service_credential_file.read_text()
    statuses = (running.pipeline_status, running.delivery_status)
    running.until_stored()
    headgate.stack.connect.kill()
    service_credential_file.write_text("not-the-credential\n")
    try:
        headgate.stack.connect.start()
        for path in statuses:
            seen = headgate.until_state(path, "FAILED", within=SETTLED)
            assert "could not read the credentials" in " ".join(seen["reasons"])
    finally:
        service_credential_file.write_text(right)
    # A tick of the schedule may have failed in between: then the next attempt comes a minute later.
    for _ in range(2):
        headgate.tick()
    for path in statuses:
        headgate.until_state(path, "RUNNING", within=3 * SETTLED)
    running.until_arrived()
    trail = headgate.get(f"/audit?resource_id={running.pipeline['id']}&meaningful=true")
    restarted = [one for one in trail if one["action"] == "pipeline.restart_failed"]
    assert restarted
    assert {one["actor"]["via"] for one in restarted} == {"system"}


@pytest.fixture
def bare_worker(headgate: RealHeadgate, real_stack_in_use: RealStackInUse, real_state: Path) -> Iterator[str]:
    """The URL of a second worker, which has no connector plug-ins. Headgate runs, so that it may ask for secrets."""
    with other_worker(real_stack_in_use, real_state / "bare", name="bare", plugins=fetch_all().plugins[1:]) as (url, _):
        yield url


def test_cluster_without_the_plug_in_is_refused_with_the_name_of_the_class(running: Running, bare_worker: str) -> None:
    headgate = running.headgate
    bare = headgate.post(
        "/connect/clusters",
        {"name": "bare", "base_url": bare_worker, "stream_cluster_id": headgate.stream_cluster_id},
    )
    body = headgate.pipeline_body(running.registered, [("shop", "orders")], connect_cluster_id=bare["id"])
    error = headgate.refused("/pipelines", body)
    assert error["code"] == "PLUGIN_MISSING"
    assert error["details"] == {"connector_class": "io.debezium.connector.postgresql.PostgresConnector"}
    sink = headgate.delivery_body(
        running.pipeline, {running.pipeline["topics"][0]: "other"}, connect_cluster_id=bare["id"]
    )
    error = headgate.refused(f"/destinations/{running.delivery['destination_id']}/deploy", sink)
    assert error["code"] == "PLUGIN_MISSING"
    assert headgate.get(f"/pipelines/{running.pipeline['id']}/destinations")[0]["id"] == running.delivery["id"]
