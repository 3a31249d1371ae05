"""The mistakes of newcomers: each answer says what is right, in one sentence, and repeats nothing that was sent."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import httpx
import pytest

from tests.support.api_assertions import UNKNOWN_ID
from tests.support.apps.sandbox import Api, Sandbox

UUID_FORM = "an id as the lists of this API show it: a UUID in lower case with dashes"
SSL_MODES = ["disable", "prefer", "require", "verify-ca", "verify-full"]
Send = Callable[[Sandbox], httpx.Response]


@dataclass(frozen=True, kw_only=True)
class Mistake:
    """What is sent, and what a person reads: `message` is the sentence of one detail, or of the whole error."""

    name: str
    send: Send
    message: str
    status: int = 422
    more: Mapping[str, Any] = field(default_factory=dict)


def source(*, config: Mapping[str, Any] | None = None, **changes: Any) -> Send:
    def send(sandbox: Sandbox) -> httpx.Response:
        merged = {**sandbox.config(), **(config or {})}
        return sandbox.admin.post("/sources", sandbox.source_body(config=merged, **changes))

    return send


def pipeline(**changes: Any) -> Send:
    return lambda sandbox: sandbox.admin.post("/pipelines", sandbox.pipeline_body(**changes))


def preview(**changes: Any) -> Send:
    return lambda sandbox: sandbox.admin.post("/pipelines/preview", sandbox.pipeline_body(**changes))


def delivery(**changes: Any) -> Send:
    def send(sandbox: Sandbox) -> httpx.Response:
        body = sandbox.delivery_body(sandbox.pipeline, **changes)
        return sandbox.admin.post(f"/destinations/{sandbox.destination['id']}/preview", body)

    return send


def mapped(*tables: tuple[str, str]) -> Send:
    """A delivery whose mappings are the pipeline's topics to these tables."""

    def send(sandbox: Sandbox) -> httpx.Response:
        pairs = zip(sandbox.pipeline["topics"], tables, strict=False)
        mappings = [{"topic": topic, "schema_name": schema, "table_name": name} for topic, (schema, name) in pairs]
        return delivery(mappings=mappings)(sandbox)

    return send


def post(path: str, body: Any, **more: Any) -> Send:
    return lambda sandbox: sandbox.admin.post(path, body, **more)


def get(path: str) -> Send:
    return lambda sandbox: sandbox.admin.get(path)


def raw(text: str, content_type: str = "application/json") -> Send:
    """A body as a person types it."""

    def send(sandbox: Sandbox) -> httpx.Response:
        headers = {"Content-Type": content_type}
        return sandbox.admin.call("POST", "/sources", headers=headers, content=text.encode())

    return send


def store(provider: str, config: Mapping[str, Any]) -> Send:
    key = {"access_key_id": "key", "secret_access_key": "secret"}
    return post("/destinations", {"name": "files", "provider": provider, "config": config, "credentials": key})


def channel(provider: str, config: Mapping[str, Any]) -> Send:
    return post("/notification-channels", {"name": "people", "provider": provider, "config": config})


def rule(**changes: Any) -> Send:
    return post("/alert-rules", {"name": "a rule of mine", **changes})


def by(role: str, send: Callable[[Api], httpx.Response]) -> Send:
    return lambda sandbox: send(sandbox.with_role(role))


def _changed(sandbox: Sandbox, if_match: str) -> httpx.Response:
    source = sandbox.source
    return sandbox.admin.delete(f"/sources/{source['id']}", headers={"If-Match": if_match})


def _duplicate(sandbox: Sandbox) -> httpx.Response:
    return sandbox.admin.post("/sources", sandbox.source_body(name=sandbox.source["name"].upper()))


def _files_with_write_mode(sandbox: Sandbox) -> httpx.Response:
    config = {"bucket": "files-of-mine", "endpoint_url": "http://127.0.0.1:9"}
    key = {"access_key_id": "key", "secret_access_key": "secret"}
    body = {"name": sandbox.name("files"), "provider": "minio", "config": config, "credentials": key}
    files = sandbox.admin.post_ok("/destinations", body)
    mappings = [{"topic": sandbox.pipeline["topics"][0]}]
    sent = sandbox.delivery_body(sandbox.pipeline, mappings=mappings, write_mode="insert")
    return sandbox.admin.post(f"/destinations/{files['id']}/preview", sent)


def _json_to_a_database(sandbox: Sandbox) -> httpx.Response:
    plain = sandbox.cached("plain", lambda: sandbox.new_pipeline(converter="json"))
    body = sandbox.delivery_body(plain)
    return sandbox.admin.post(f"/destinations/{sandbox.destination['id']}/preview", body)


def _not_in_the_pipeline(sandbox: Sandbox) -> httpx.Response:
    return delivery(mappings=[{"topic": "another.shop.orders", "schema_name": "mart", "table_name": "t"}])(sandbox)


MISTAKES = (
    # Sources.
    Mistake(
        name="the provider has another name",
        send=source(provider="postgres"),
        message="provider has to be one of these: postgresql, mysql. Did you mean postgresql?",
        more={"allowed": ["postgresql", "mysql"], "did_you_mean": "postgresql"},
    ),
    Mistake(
        name="the port is text",
        send=source(config={"port": "default"}),
        message="config.port has to be an integer from 1 to 65535.",
    ),
    Mistake(
        name="the port is too large",
        send=source(config={"port": 70000}),
        message="config.port has to be an integer from 1 to 65535.",
        more={"limit": 65535},
    ),
    Mistake(
        name="a text holds a reference",
        send=source(config={"username": "${DB_USER}"}),
        message="No text may hold a dollar sign before an opening brace: Kafka Connect would read it as a reference to "
        "a secret. Remove it.",
    ),
    Mistake(
        name="the host is called hostname",
        send=source(config={"hostname": "db"}),
        message="config has no field hostname. Did you mean host?",
        more={"did_you_mean": "host"},
    ),
    Mistake(
        name="the host is a URL",
        send=source(config={"host": "postgres://db.example.com/shop"}),
        message="config.host has to be a host name or an IP address, without a scheme, a port or a path, such as "
        "db.example.com.",
    ),
    Mistake(
        name="ssl_mode has the word of another driver",
        send=source(config={"ssl_mode": "required"}),
        message="config.ssl_mode has to be one of these: disable, prefer, require, verify-ca, verify-full. Did you "
        "mean require?",
        more={"allowed": SSL_MODES, "did_you_mean": "require"},
    ),
    Mistake(
        name="the name is missing",
        send=post("/sources", {"provider": "postgresql"}),
        message="Give name.",
    ),
    Mistake(
        name="the name is empty",
        send=source(name="  "),
        message="name must not be empty.",
        more={"limit": 1},
    ),
    Mistake(
        name="the name is too long",
        send=source(name="x" * 201),
        message="name has to be text of at most 200 characters.",
        more={"limit": 200},
    ),
    Mistake(
        name="the timeout is in milliseconds",
        send=source(config={"connection_timeout_seconds": 5000}),
        message="config.connection_timeout_seconds has to be an integer from 1 to 30.",
        more={"limit": 30},
    ),
    Mistake(
        name="the name is taken",
        send=_duplicate,
        status=409,
        message="Another source has this name, in whatever case. Choose another name.",
    ),
    # Pipelines.
    Mistake(
        name="the topic prefix has a slash",
        send=pipeline(topic_prefix="shop/eu"),
        message="topic_prefix has to be letters, digits, dots, underscores and dashes, without a slash, such as shop.",
    ),
    Mistake(
        name="no table is chosen",
        send=pipeline(tables=[]),
        message="tables must not be empty.",
        more={"limit": 1},
    ),
    Mistake(
        name="a table is text",
        send=pipeline(tables=["shop.orders"]),
        message="tables[0] has to be a JSON object.",
    ),
    Mistake(
        name="table_name holds the schema too",
        send=pipeline(tables=[{"schema_name": "shop", "table_name": "shop.orders"}]),
        message="A table is not among those that discovery saw. Did you mean shop.orders? Else run discovery.",
        more={"did_you_mean": "shop.orders"},
    ),
    Mistake(
        name="a table is misspelled",
        send=pipeline(tables=[{"schema_name": "shop", "table_name": "oders"}]),
        message="A table is not among those that discovery saw. Did you mean shop.orders? Else run discovery.",
        more={"did_you_mean": "shop.orders"},
    ),
    Mistake(
        name="the snapshot mode is unknown",
        send=pipeline(snapshot_mode="initial_load"),
        message="snapshot_mode has to be one of these: initial, initial_only, no_data, when_needed, always. Did you "
        "mean initial?",
        more={"did_you_mean": "initial"},
    ),
    Mistake(
        name="the converter is avro",
        send=pipeline(converter="avro"),
        message="converter has to be one of these: json_schema, json.",
        more={"allowed": ["json_schema", "json"]},
    ),
    Mistake(
        name="an id is a number",
        send=pipeline(source_id="1"),
        message=f"source_id has to be {UUID_FORM}.",
    ),
    Mistake(
        name="the source does not exist",
        send=pipeline(source_id=UNKNOWN_ID),
        message="The source that this refers to does not exist. The list of them shows their ids.",
    ),
    *(
        Mistake(
            name=f"the property {key} has a field of its own",
            send=send(properties={key: "x"}),
            message=f"{key} is not set as a property. Set {option} instead.",
            more={"option": option},
        )
        for key, option, send in (
            ("snapshot.mode", "snapshot_mode", pipeline),
            ("heartbeat.interval.ms", "options.heartbeat_interval_ms", preview),
            ("max.batch.size", "options.max_batch_size", pipeline),
            ("publication.name", "options.publication_name", pipeline),
            ("slot.name", "options.slot_name", preview),
            ("table.include.list", "tables", pipeline),
            ("tombstones.on.delete", "options.tombstones_on_delete", pipeline),
            ("decimal.handling.mode", "representation", pipeline),
            ("event.processing.failure.handling.mode", "options.on_conversion_error", pipeline),
            ("topic.prefix", "topic_prefix", pipeline),
        )
    ),
    Mistake(
        name="a property holds the password",
        send=pipeline(properties={"database.password": "hunter2"}),
        message="database.password is not set here: the source has the address and the credentials.",
        more={"option": "source_id"},
    ),
    Mistake(
        name="an allowed property has another value",
        send=pipeline(properties={"skip.messages.without.change": "yes"}),
        message="skip.messages.without.change: it has to be one of these: true, false.",
        more={"allowed": ["true", "false"]},
    ),
    Mistake(
        name="an allowed property is misspelled",
        send=pipeline(properties={"snapshot.max.thread": "2"}),
        message="A property is not among those that may be set. Did you mean snapshot.max.threads?",
        more={"did_you_mean": "snapshot.max.threads"},
    ),
    Mistake(
        name="an option is one of MySQL",
        send=pipeline(options={"server_id": 5}),
        message="Leave options.server_id out: this provider does not have it. Options of its own are adopt_existing, "
        "publication_mode, publication_name, slot_name.",
    ),
    # Destinations and deliveries.
    Mistake(
        name="a destination is of an unknown kind",
        send=store("oracle", {}),
        message="provider has to be one of these: postgresql, mysql, s3, minio.",
        more={"allowed": ["postgresql", "mysql", "s3", "minio"]},
    ),
    Mistake(
        name="S3 has an endpoint",
        send=store("s3", {"bucket": "files", "region": "eu-central-1", "endpoint_url": "https://s3.example.com"}),
        message="Amazon S3 has its own addresses. Leave endpoint_url out, or use the provider minio.",
    ),
    Mistake(
        name="MinIO has no endpoint",
        send=store("minio", {"bucket": "files"}),
        message="Give the URL of the store, such as https://minio.example.com:9000.",
    ),
    Mistake(
        name="a topic is not the pipeline's",
        send=_not_in_the_pipeline,
        message="A mapping names a topic that the pipeline does not write. Its topics are ",
    ),
    Mistake(
        name="the mappings lead to two schemas",
        send=mapped(("mart", "orders"), ("lake", "customers")),
        message="All mappings of a delivery share one target schema. Make one delivery for each schema.",
    ),
    Mistake(
        name="a mapping has no table",
        send=lambda sandbox: delivery(mappings=[{"topic": sandbox.pipeline["topics"][0]}])(sandbox),
        message="Give mappings[0].table_name: the table of the target that the rows of the topic are written to.",
    ),
    Mistake(
        name="files have a write mode",
        send=_files_with_write_mode,
        message="Leave write_mode out: this provider does not have it. Options of its own are compression, "
        "file_name_template, format, max_records_per_file, shape.",
    ),
    Mistake(
        name="json goes to a database",
        send=_json_to_a_database,
        message="The sink needs records that carry their schema. Choose a pipeline whose converter is json_schema, or "
        "make a new one: a pipeline keeps its converter.",
    ),
    Mistake(
        name="a delivery sets a property of the sink",
        send=delivery(properties={"insert.mode": "upsert"}),
        message="insert.mode is not set as a property. Set write_mode instead.",
        more={"option": "write_mode"},
    ),
    Mistake(
        name="the task is no number",
        send=lambda sandbox: sandbox.admin.post(f"/pipelines/{sandbox.pipeline['id']}/restart-task?task=abc"),
        message="task has to be an integer of at least 0.",
    ),
    # Clusters.
    Mistake(
        name="brokers have no port",
        send=post("/stream/clusters", {"name": "brokers", "bootstrap_servers": "kafka"}),
        message="bootstrap_servers has to be brokers with their ports, separated by commas, such as "
        "kafka-1.example.com:9092,kafka-2.example.com:9092.",
    ),
    Mistake(
        name="the address of Connect has no scheme",
        send=post("/connect/clusters", {"name": "w", "base_url": "connect:8083", "stream_cluster_id": UNKNOWN_ID}),
        message="base_url has to be http or https, a host and perhaps a port and a path, such as "
        "https://connect.example.com:8083.",
    ),
    Mistake(
        name="a cluster is used",
        send=lambda sandbox: (sandbox.pipeline, sandbox.admin.delete(f"/connect/clusters/{sandbox.connect['id']}"))[1],
        status=409,
        message="This connect cluster is in use. Delete what uses it first.",
    ),
    # Alerts.
    Mistake(
        name="a silence has no time zone",
        send=post(f"/alerts/{UNKNOWN_ID}/silence", {"until": "2031-01-01T00:00:00"}),
        message="until has to be a time with its zone, such as 2030-01-31T12:00:00Z.",
    ),
    Mistake(
        name="a cooldown is negative",
        send=rule(cooldown_seconds=-1),
        message="cooldown_seconds has to be an integer from 0 to 604800.",
        more={"limit": 0},
    ),
    Mistake(
        name="an event type is unknown",
        send=rule(event_types=["CONNECTOR_FAIL"]),
        message="Did you mean CONNECTOR_FAILED?",
        more={"did_you_mean": "CONNECTOR_FAILED"},
    ),
    Mistake(
        name="a channel does not exist",
        send=rule(channel_ids=[UNKNOWN_ID]),
        message="channel_ids[0] is no id of a channel that exists. GET /api/v1/notification-channels lists the ids.",
    ),
    Mistake(
        name="a webhook is not encrypted",
        send=channel("webhook", {"url": "http://example.com/hook"}),
        message="https",
    ),
    Mistake(
        name="a webhook is private",
        send=channel("webhook", {"url": "https://10.0.0.7/hook"}),
        message="address",
    ),
    Mistake(
        name="a channel has the name of a product",
        send=channel("slack", {"webhook_url": "https://hooks.slack.com/services/x"}),
        message="provider has to be one of these: chat-webhook, bot-chat, webhook.",
        more={"allowed": ["chat-webhook", "bot-chat", "webhook"]},
    ),
    # People.
    Mistake(
        name="a password is short",
        send=lambda sandbox: sandbox.unauthenticated().post("/invites/none/accept", {"password": "short"}),
        message="password has to be text of at least 12 characters.",
        more={"limit": 12},
    ),
    Mistake(
        name="a role is in lower case",
        send=post("/users/invite", {"email": "ada@example.com", "role": "admin"}),
        message="role has to be one of these: Admin, Ops, Viewer. Did you mean Admin?",
        more={"allowed": ["Admin", "Ops", "Viewer"], "did_you_mean": "Admin"},
    ),
    Mistake(
        name="nobody is signed in",
        send=lambda sandbox: sandbox.unauthenticated().get("/sources"),
        status=401,
        message="Sign in first: POST /api/v1/auth/login with email and password. A program sends an API token instead: "
        "Authorization: Bearer hg_...",
    ),
    Mistake(
        name="the role does not allow it",
        send=by("Viewer", lambda viewer: viewer.post("/sources", {})),
        status=403,
        message="This needs the permission write, which the role Admin or Ops has. Ask an Admin.",
    ),
    # Requests.
    Mistake(
        name="a query parameter is unknown",
        send=get("/sources?page_size=10"),
        message="This address has no query parameter page_size. It takes limit, cursor.",
        more={"allowed": ["limit", "cursor"]},
    ),
    Mistake(
        name="a limit is too large",
        send=get("/sources?limit=1000"),
        message="limit has to be an integer from 1 to 500.",
        more={"limit": 500},
    ),
    Mistake(
        name="a cursor is made up",
        send=get("/sources?cursor=abc"),
        message="The cursor is not of this list with these filters, or older than a day. Take the X-Next-Cursor of the "
        "page before unchanged, or begin again without a cursor.",
    ),
    Mistake(
        name="an id in the path is no UUID",
        send=get("/sources/orders"),
        status=404,
        message="There is nothing at this address: {uuid} in its path has to be an id as lists show it: a UUID in "
        "lower case with dashes.",
    ),
    Mistake(
        name="the path lacks its prefix",
        send=get("//sources"),
        status=404,
        message="There is nothing at this address. The API is below /api/v1, and /docs lists its addresses. Did you "
        "mean /api/v1/sources?",
    ),
    Mistake(
        name="the path is misspelled",
        send=get("/pipeline"),
        status=404,
        message="There is nothing at this address. The API is below /api/v1, and /docs lists its addresses. Did you "
        "mean /api/v1/pipelines?",
    ),
    Mistake(
        name="the method is another one",
        send=lambda sandbox: sandbox.admin.call("PATCH", "/sources"),
        status=405,
        message="This address takes GET, POST only.",
    ),
    Mistake(
        name="If-Match has no quotes",
        send=lambda sandbox: _changed(sandbox, "1"),
        message='If-Match takes one version in double quotes, such as "3": the ETag of the answer that you read.',
    ),
    Mistake(
        name="the version is old",
        send=lambda sandbox: _changed(sandbox, '"77"'),
        status=412,
        message="It has changed since you read it. Read it again, and repeat your change with the ETag of that answer "
        "as If-Match.",
    ),
    Mistake(
        name="an Idempotency-Key has a blank",
        send=post("/sources", {}, headers={"Idempotency-Key": "my key"}),
        message="Idempotency-Key is 1 to 64 letters, digits, dots, underscores and dashes, without blanks, such as a "
        "UUID.",
    ),
    Mistake(
        name="the body is not declared as JSON",
        send=raw("{}", content_type="text/plain"),
        status=415,
        message="Send the body as JSON, in UTF-8, with the header Content-Type: application/json.",
    ),
    Mistake(
        name="JSON has a comma too many",
        send=raw('{\n  "name": "shop",\n}'),
        status=400,
        message="The body is not JSON that is accepted here: at line 2, column 17, a comma stands before a closing "
        "bracket.",
    ),
    Mistake(
        name="JSON has single quotes",
        send=raw("{'name': 'shop'}"),
        status=400,
        message="The body is not JSON that is accepted here: at line 1, column 2, a key in double quotes is expected.",
    ),
)
"""The sentence is the whole one, or a part where it lists much."""


@pytest.mark.parametrize("mistake", MISTAKES, ids=lambda mistake: mistake.name)
def test_the_answer_says_what_is_right(sandbox: Sandbox, mistake: Mistake) -> None:
    response = mistake.send(sandbox)
    assert response.status_code == mistake.status, response.text
    error = response.json()["error"]
    faults = error["details"] if isinstance(error["details"], list) else []
    said = [fault for fault in faults if mistake.message in fault["message"]]
    assert mistake.message in error["message"] or said, error
    for name, value in mistake.more.items():
        assert [fault.get(name) for fault in said] == [value], error
    assert not re.search(r"hunter2|DB_USER|\^\[|\\Z", response.text)


def test_a_taken_name_says_who_has_it(sandbox: Sandbox) -> None:
    details = _duplicate(sandbox).json()["error"]["details"]
    assert details["resource"] == {"type": "source", "id": sandbox.source["id"], "name": sandbox.source["name"]}


def test_a_role_that_is_missing_is_named_for_programs_too(sandbox: Sandbox) -> None:
    details = sandbox.with_role("Viewer").post("/sources", {}).json()["error"]["details"]
    assert details == {"permission": "write", "roles": ["Admin", "Ops"]}


def test_whatever_is_in_use_says_by_what(sandbox: Sandbox) -> None:
    delivery = sandbox.cached("used", sandbox.new_delivery)
    connection = sandbox.admin.post_ok("/connections", sandbox.connection_body())
    user = sandbox.admin.post_ok("/sources", sandbox.using_body(connection))
    topic = sandbox.pipeline["topics"][0]
    users = {
        f"/sources/{sandbox.source['id']}": sandbox.pipeline,
        f"/destinations/{delivery['destination_id']}": delivery,
        f"/connections/{connection['id']}": user,
        f"/connect/clusters/{sandbox.connect['id']}": sandbox.pipeline,
        f"/stream/clusters/{sandbox.stream['id']}": sandbox.connect,
        f"/pipelines/{sandbox.pipeline['id']}": delivery,
        f"/stream/topics/{topic}?cluster_id={sandbox.stream['id']}": sandbox.pipeline,
    }
    for path, using in users.items():
        error = sandbox.admin.delete(path).json()["error"]
        assert error["code"] == "RESOURCE_IN_USE", (path, error)
        assert using["id"] in [entry["id"] for entry in error["details"]["used_by"]], (path, error)
        assert all(entry["type"] and entry["name"] for entry in error["details"]["used_by"])
