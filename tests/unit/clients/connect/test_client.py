import pytest

from chalicelib.clients.connect.client import MAX_ATTEMPTS, Connect
from chalicelib.clients.connect.parse import ListedConfig
from chalicelib.domain.connector_config import INSTALLATION_KEY, config_hash
from chalicelib.domain.diagnosis.diagnoses import Diagnosis
from chalicelib.domain.names import OWNER_KEY
from chalicelib.domain.offset import StoredOffset
from chalicelib.errors import Rejected, TimedOut, Unavailable
from tests.support.apps.connect_worker import (
    NAME,
    READS,
    SECRET,
    Reply,
    Worker,
    html,
    refusal,
    reset,
    short_deadline,
    silence,
    status_body,
)

reads = pytest.mark.parametrize("read", READS)


def test_the_root_reports_version_and_cluster(connect: Connect) -> None:
    root = connect.root(short_deadline())
    assert (root.version, root.kafka_cluster_id) == ("4.3.1", "kafka-1")


def test_plugins_are_listed_in_order(connect: Connect, worker: Worker) -> None:
    worker.on(
        "GET",
        "/connector-plugins",
        Reply(body=[{"class": "b.B", "type": "sink"}, {"class": "a.A", "type": "source", "version": "1.0"}]),
    )
    assert [(p.class_name, p.type, p.version) for p in connect.plugins(short_deadline())] == [
        ("a.A", "source", "1.0"),
        ("b.B", "sink", None),
    ]


def test_offsets_are_deleted_as_soon_as_the_tasks_have_ended(connect: Connect, worker: Worker) -> None:
    running = refusal(400, "Connectors must be in the STOPPED state before their offsets can be modified.")
    worker.on("DELETE", f"/connectors/{NAME}/offsets", running, running, Reply(body={"message": "reset"}))
    connect.delete_offsets(NAME, short_deadline())
    assert worker.count("DELETE", f"/connectors/{NAME}/offsets") == 3


def test_a_worker_that_cannot_delete_offsets_is_not_asked_again(connect: Connect, worker: Worker) -> None:
    worker.on("DELETE", f"/connectors/{NAME}/offsets", refusal(405, "HTTP 405 Method Not Allowed"))
    with pytest.raises(Rejected):
        connect.delete_offsets(NAME, short_deadline())


def test_an_offset_is_replaced_as_soon_as_the_tasks_have_ended(connect: Connect, worker: Worker) -> None:
    running = refusal(400, "Connectors must be in the STOPPED state before their offsets can be modified.")
    worker.on("PATCH", f"/connectors/{NAME}/offsets", running, running, Reply(body={"message": "altered"}))
    connect.alter_offset(NAME, {"server": "p"}, {"lsn": 5}, short_deadline())
    assert worker.count("PATCH", f"/connectors/{NAME}/offsets") == 3


SET = "9d146d87-eaa3-11f1-bb7b-02fc00000001:1-31:40,037abb8f-eaa5-11f1-ae59-02fc00000001:tag:1"
OFFSET = {"lsn": 5, "snapshot_completed": True, "word": "INITIAL", "text": "not a word", "list": [1], "set": SET}
OFFSET |= {"two words": 1, "long": "1" * 65_537}


@pytest.mark.parametrize(
    ("answer", "offset"),
    [
        (Reply(body={"offsets": []}), StoredOffset()),
        (Reply(body={"offsets": [{"partition": {"server": "p"}, "offset": None}]}), StoredOffset()),
        (
            Reply(body={"offsets": [{"partition": {"server": "p"}, "offset": OFFSET}]}),
            StoredOffset({"lsn": 5, "snapshot_completed": True, "word": "INITIAL", "text": "", "set": SET, "long": ""}),
        ),
        (Reply(body={"offsets": [{"offset": OFFSET}, {"offset": OFFSET}]}), StoredOffset(supported=False)),
        (refusal(404, "HTTP 404 Not Found"), StoredOffset(supported=False)),
        (refusal(405, "HTTP 405 Method Not Allowed"), StoredOffset(supported=False)),
    ],
)
def test_a_stored_offset_is_read_where_connect_has_the_only_one(
    connect: Connect, worker: Worker, answer: Reply, offset: StoredOffset
) -> None:
    worker.on("GET", f"/connectors/{NAME}/offsets", answer)
    assert connect.find_offset(NAME, short_deadline()) == offset


def test_a_config_is_read(connect: Connect, worker: Worker) -> None:
    worker.on("GET", f"/connectors/{NAME}/config", Reply(body={"name": NAME, "a": "${headgate:x:password}", "b": None}))
    assert connect.find_config(NAME, short_deadline()) == {"name": NAME, "a": "${headgate:x:password}"}


def test_a_status_is_read_and_its_traces_become_diagnoses(connect: Connect, worker: Worker) -> None:
    trace = f'org.postgresql.util.PSQLException: FATAL: password authentication failed for user "{SECRET}"'
    worker.on("GET", f"/connectors/{NAME}/status", Reply(body=status_body("RUNNING", "FAILED", trace=trace)))
    status = connect.find_status(NAME, short_deadline())
    assert status is not None
    assert (status.state, status.worker_id, status.tasks[0].state) == ("RUNNING", "10.0.0.1:8083", "FAILED")
    assert status.tasks[0].diagnosis is Diagnosis.AUTH
    assert SECRET not in repr(status)


def test_a_trace_is_judged_by_the_connectors_role(connect: Connect, worker: Worker) -> None:
    trace = "org.postgresql.util.PSQLException: ERROR: insert violates check constraint"
    body = status_body("RUNNING", "FAILED", trace=trace, type_="sink")
    worker.on("GET", f"/connectors/{NAME}/status", Reply(body=body))
    status = connect.find_status(NAME, short_deadline())
    assert status is not None
    assert status.tasks[0].diagnosis is Diagnosis.CONSTRAINT


def test_a_connector_that_was_just_made_has_no_status_yet(connect: Connect, worker: Worker) -> None:
    worker.on("GET", f"/connectors/{NAME}/status", refusal(404, "No status found for connector"))
    worker.on("GET", f"/connectors/{NAME}/config", Reply(body={"name": NAME}))
    status = connect.find_status(NAME, short_deadline())
    assert status is not None
    assert (status.state, status.tasks) == ("UNASSIGNED", ())


def test_what_connect_reports_as_missing_is_none(connect: Connect, worker: Worker) -> None:
    for path in ("status", "config", "topics"):
        worker.on("GET", f"/connectors/{NAME}/{path}", refusal(404))
    assert connect.find_status(NAME, short_deadline()) is None
    assert connect.find_config(NAME, short_deadline()) is None
    assert connect.topics(NAME, short_deadline()) is None


def test_all_statuses_come_in_one_request(connect: Connect, worker: Worker) -> None:
    body = {"a": {"status": status_body("RUNNING", "RUNNING")}, "b": {"status": status_body("PAUSED")}}
    worker.on("GET", "/connectors?expand=status", Reply(body=body))
    statuses = connect.statuses(short_deadline())
    assert {name: status.state for name, status in statuses.items()} == {"a": "RUNNING", "b": "PAUSED"}
    assert statuses["a"].name == "a"
    assert len(worker.seen) == 1


def test_of_configs_only_hashes_come_and_only_those_of_connectors_of_our_names(
    connect: Connect, worker: Worker
) -> None:
    config = {"name": NAME, "database.password": "hunter2", "a": "b", OWNER_KEY: "source/1", INSTALLATION_KEY: "i"}
    status = status_body("RUNNING", "RUNNING")
    body = {name: {"status": status, "info": {"name": name, "config": config}} for name in (NAME, "foreign")}
    body["headgate-sink-" + "0" * 32] = {"status": status, "info": {"config": {"a": 1}}}
    worker.on("GET", "/connectors?expand=status&expand=info", Reply(body=body))
    statuses, configs = connect.statuses_and_configs(short_deadline())
    assert statuses.keys() == body.keys()
    marks = {OWNER_KEY: "source/1", INSTALLATION_KEY: "i"}
    assert configs == {NAME: ListedConfig(hash=config_hash(config), marks=marks)}
    assert len(worker.seen) == 1


def test_configs_that_cannot_be_read_are_requested_only_once(connect: Connect, worker: Worker) -> None:
    worker.on("GET", "/connectors?expand=status&expand=info", Reply(after=reset))
    with pytest.raises(Unavailable):
        connect.statuses_and_configs(short_deadline())
    assert len(worker.seen) == 1


def test_the_topics_of_a_connector_are_read(connect: Connect, worker: Worker) -> None:
    worker.on("GET", f"/connectors/{NAME}/topics", Reply(body={NAME: {"topics": ["p.s.t", "bad name", 7]}}))
    assert connect.topics(NAME, short_deadline()) == {"p.s.t"}


def test_topics_without_tracking_are_unknown(connect: Connect, worker: Worker) -> None:
    worker.on("GET", f"/connectors/{NAME}/topics", refusal(403, "Topic tracking is disabled."))
    assert connect.topics(NAME, short_deadline()) is None


@reads
@pytest.mark.parametrize(
    ("reply", "named"),
    [
        pytest.param(html(404), "not ready yet", id="page of a starting worker"),
        pytest.param(html(401, "no"), "password", id="401"),
        pytest.param(html(403, "no"), "password", id="403"),
        pytest.param(Reply(302, "", headers={"Location": "/elsewhere"}), "redirect", id="redirect"),
    ],
)
def test_an_answer_of_something_else_is_unavailable_and_never_absent(
    connect: Connect, worker: Worker, read: str, reply: Reply, named: str
) -> None:
    path, call = READS[read]
    worker.on("GET", path, reply)
    with pytest.raises(Unavailable) as raised:
        call(connect, short_deadline())
    assert raised.value.code == "CONNECT_UNAVAILABLE"
    assert named in raised.value.message
    assert worker.count("GET", "/elsewhere") == 0


@reads
def test_a_worker_that_does_not_answer_is_not_waited_for(connect: Connect, worker: Worker, read: str) -> None:
    path, call = READS[read]
    worker.on("GET", path, Reply(after=silence(worker)))
    with pytest.raises(TimedOut):
        call(connect, short_deadline(0.2))
    assert worker.count("GET", path) == 1


@reads
@pytest.mark.parametrize("status", [409, 500])
def test_a_read_is_repeated_while_the_workers_rebalance(
    connect: Connect, worker: Worker, read: str, status: int
) -> None:
    path, call = READS[read]
    good = {
        "root": {"version": "4.3.1"},
        "plugins": [],
        "config": {},
        "status": status_body(),
        "statuses": {},
        "connectors": {},
        "topics": {NAME: {"topics": []}},
    }
    worker.on("GET", path, refusal(status), refusal(status), Reply(body=good[read]))
    call(connect, short_deadline())
    assert worker.count("GET", path) == MAX_ATTEMPTS


@reads
def test_a_rebalance_without_end_is_unavailable(connect: Connect, worker: Worker, read: str) -> None:
    path, call = READS[read]
    worker.on("GET", path, refusal(500))
    with pytest.raises(Unavailable) as raised:
        call(connect, short_deadline())
    assert worker.count("GET", path) == MAX_ATTEMPTS
    assert SECRET not in raised.value.message


def test_a_read_whose_connection_breaks_is_repeated(connect: Connect, worker: Worker) -> None:
    worker.on("GET", "/", Reply(after=reset), Reply(body={"version": "4.3.1"}))
    assert connect.root(short_deadline()).version == "4.3.1"
