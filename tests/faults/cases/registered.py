"""What people do with sources, destinations, clusters and sessions, through the whole API."""

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from chalicelib.domain.alerts.channel import Channel, ChannelProvider, ChannelValues
from chalicelib.kit.ids import new_id
from chalicelib.kit.masking import Secret
from tests.faults.cases.operation_case import PreparedOperation, named_cases
from tests.faults.harness.whole_app import EMAIL, PASSWORD, ApiUser, deliver, messages
from tests.support.apps.in_process_app import InProcessApp
from tests.support.apps.inputs import system_input

Json = dict[str, Any]
Test = Callable[[Json | None], bool]
KEY = "4f0c9a0e-7c0b-4ed8-8a0b-6a1f6c4a2b11"
TABLES = {
    "/connections": "connections",
    "/sources": "sources",
    "/destinations": "destinations",
    "/stream/clusters": "stream-clusters",
    "/connect/clusters": "connect-clusters",
    "/pipelines": "pipelines",
    "/notification-channels": "notification-channels",
    "/alert-rules": "alert-rules",
    "/maintenance": "maintenance-windows",
}


def system(name: str, **config: Any) -> Json:
    address = {"host": "database.example.com", "database_name": "shop", "username": "headgate", **config}
    return {
        "name": name,
        "provider": "postgresql",
        "config": address,
        "credentials": {"password": "planted-database-password"},
    }


def stream_body(app: InProcessApp, name: str) -> Json:
    return {"name": name, "bootstrap_servers": app.kafka.address, "security_protocol": "PLAINTEXT"}


def connect_body(app: InProcessApp, name: str) -> Json:
    return {
        "name": name,
        "base_url": app.connect.url,
        "stream_cluster_id": app.stream.id,
        "username": "headgate",
        "credentials": {"password": "planted-connect-password"},
    }


def channel_body(name: str, **config: str) -> Json:
    """A chat webhook: nothing is looked up and nothing is sent when it is stored."""
    url = "https://hooks.slack.com/services/planted"
    return {"name": name, "provider": "chat-webhook", "config": {"webhook_url": url, **config}}


def channel(app: InProcessApp) -> Channel:
    url = Secret("https://hooks.slack.com/services/planted")
    values = ChannelValues(name="channel", provider=ChannelProvider.CHAT_WEBHOOK)
    return app.services.alerting.channels.create(app.context(), values, {"webhook_url": url})


def row_named(app: InProcessApp, path: str, name: str) -> Json | None:
    rows = [_body(row) for row in app.tables.rows(TABLES[path])]
    return next((row for row in rows if row["name"] == name), None)


def row_of(app: InProcessApp, path: str, entity_id: str) -> Json | None:
    return next((_body(row) for row in app.tables.rows(TABLES[path]) if row["id"] == entity_id), None)


def api_operation(
    app: InProcessApp,
    method: str,
    path: str,
    body: Any = None,
    *,
    is_done: Callable[[], bool],
    key: str | None = None,
    then: Callable[[], object] = lambda: None,
    **more: Any,
) -> PreparedOperation:
    """One request of an Admin who is signed in; `then` follows at once."""
    user, keys = ApiUser.signed_in(app), [key]

    def request() -> object:
        answer = user.send(method, path, body, key=keys[-1])
        then()
        return answer

    def warm_up() -> None:
        keys[:] = [key]
        user.send("GET", "/session")

    def start_over() -> None:
        if key:
            keys.append(new_id())

    return PreparedOperation(
        warm_up=warm_up,
        request=request,
        is_done=is_done,
        start_over=start_over,
        repeatable=key is not None,
        repeats_without_answer=True,
        **{"needs_ticks": False, "ticks_before": 0, **more},
    )


def creating(path: str, body: Callable[[InProcessApp], Json]) -> Callable[[InProcessApp], PreparedOperation]:
    """A POST with an `Idempotency-Key`."""

    def prepare(app: InProcessApp) -> PreparedOperation:
        sent = body(app)
        name = sent["name"]
        return api_operation(app, "POST", path, sent, key=KEY, is_done=lambda: row_named(app, path, name) is not None)

    return prepare


def changing(
    path: str, existing: Callable[[InProcessApp], Any], body: Callable[[InProcessApp], Json]
) -> Callable[[InProcessApp], PreparedOperation]:
    """A PUT with another name."""

    def prepare(app: InProcessApp) -> PreparedOperation:
        entity, sent = existing(app), body(app)
        return api_operation(
            app, "PUT", f"{path}/{entity.id}", sent, is_done=lambda: row_named(app, path, sent["name"]) is not None
        )

    return prepare


def deleting(path: str, existing: Callable[[InProcessApp], Any]) -> Callable[[InProcessApp], PreparedOperation]:
    def prepare(app: InProcessApp) -> PreparedOperation:
        entity = existing(app)
        return api_operation(app, "DELETE", f"{path}/{entity.id}", is_done=lambda: row_of(app, path, entity.id) is None)

    return prepare


def acting(
    path: str, existing: Callable[[InProcessApp], Any], verb: str, is_done: Test
) -> Callable[[InProcessApp], PreparedOperation]:
    """A POST to `<path>/<id>/<verb>`."""

    def prepare(app: InProcessApp) -> PreparedOperation:
        entity = existing(app)
        target = f"{path}/{entity.id}/{verb}"
        return api_operation(app, "POST", target, key=KEY, is_done=lambda: is_done(row_of(app, path, entity.id)))

    return prepare


def rotating(path: str, existing: Callable[[InProcessApp], Any]) -> Callable[[InProcessApp], PreparedOperation]:
    """A new password, whether it works or not."""

    def prepare(app: InProcessApp) -> PreparedOperation:
        entity = existing(app)
        target = f"{path}/{entity.id}/credentials?force=true"
        before = entity.credentials.fields.get("password", 0)

        def is_done() -> bool:
            row = row_of(app, path, entity.id)
            return row is not None and row["credentials"]["fields"].get("password", 0) > before

        body = {"credentials": {"password": "planted-next-password"}}
        return api_operation(app, "POST", target, body, key=KEY, is_done=is_done)

    return prepare


def job(verb: str) -> Callable[[InProcessApp], PreparedOperation]:
    """A job is requested, and its message arrives at once. It may fail, and says so then."""

    def prepare(app: InProcessApp) -> PreparedOperation:
        source = _undiscovered(app)

        def run_jobs() -> None:
            for body in messages("jobs"):
                deliver("jobs", body)

        def is_done() -> bool:
            jobs, row = [_body(one) for one in app.tables.rows("jobs")], row_of(app, "/sources", source.id)
            changed = row is not None and bool(row["last_discovery_at"] or row["last_tested_at"])
            return bool(jobs) and (changed or not any(one["status"] == "COMPLETED" for one in jobs))

        return api_operation(app, "POST", f"/sources/{source.id}/{verb}", key=KEY, then=run_jobs, is_done=is_done)

    return prepare


def moved_source(app: InProcessApp) -> PreparedOperation:
    """A source with a draft of a pipeline gets another address: claims move, what was discovered is removed."""
    source = app.source()
    app.pipeline(source)
    body = system(source.name, host="elsewhere.example.com")
    path = f"/sources/{source.id}"

    def is_done() -> bool:
        row = row_of(app, "/sources", source.id)
        return row is not None and row["address"]["host"] == "elsewhere.example.com"

    return api_operation(app, "PUT", path, body, is_done=is_done)


def used_connection(app: InProcessApp) -> Any:
    """A connection of two sources, one of which has a draft of a pipeline, and of a destination."""
    connection = app.connection()
    app.pipeline(app.source(connection))
    app.source(connection)
    app.destination(connection)
    return connection


def moved_connection(app: InProcessApp) -> PreparedOperation:
    """It gets another address and another password: its users get both, claims move, what was discovered is removed."""
    connection = used_connection(app)
    body = system(connection.name, host="elsewhere.example.com")

    def is_done() -> bool:
        row = row_of(app, "/connections", connection.id)
        return row is not None and row["address"]["host"] == "elsewhere.example.com"

    return api_operation(app, "PUT", f"/connections/{connection.id}", body, is_done=is_done)


def using(app: InProcessApp) -> Json:
    """A system that uses a connection."""
    return {"name": "new", "connection_id": app.connection().id}


def joined_connection(app: InProcessApp) -> PreparedOperation:
    """A source with a pipeline and a secret of its own begins to use a connection."""
    source, connection = app.source(), app.connection()
    app.pipeline(source)
    body = {"name": source.name, "connection_id": connection.id}

    def is_done() -> bool:
        row = row_of(app, "/sources", source.id)
        return row is not None and row["connection_id"] == connection.id

    return api_operation(app, "PUT", f"/sources/{source.id}", body, is_done=is_done)


def left_connection(app: InProcessApp) -> PreparedOperation:
    """A source gets an address and a secret of its own."""
    source = app.source(app.connection())
    body = system(source.name)

    def is_done() -> bool:
        row = row_of(app, "/sources", source.id)
        return row is not None and row["connection_id"] is None

    return api_operation(app, "PUT", f"/sources/{source.id}", body, is_done=is_done)


def source_of_connection(app: InProcessApp) -> Any:
    return app.source(app.connection())


def new_pipeline(app: InProcessApp) -> Json:
    return {
        "name": "new",
        "source_id": app.source().id,
        "stream_cluster_id": app.stream.id,
        "connect_cluster_id": app.cluster.id,
        "topic_prefix": "shop",
        "tables": [{"schema_name": "shop", "table_name": table} for table in app.database.tables],
    }


def topic_deletion(app: InProcessApp) -> PreparedOperation:
    """A topic that no pipeline has. The brokers are not reset between two runs: each run has it anew."""
    name = "of-somebody-else"
    path = f"/stream/topics/{name}?cluster_id={app.stream.id}"
    operation = api_operation(app, "DELETE", path, is_done=lambda: name not in app.kafka.state.topics)

    def warm_up() -> None:
        app.kafka.state.create_topic(name)
        operation.warm_up()

    return replace(operation, warm_up=warm_up)


def login(app: InProcessApp) -> PreparedOperation:
    """Each login without a cookie is a session of its own."""
    user, other = ApiUser.signed_in(app), ApiUser()
    before = len(app.tables.rows("sessions"))
    body = {"email": EMAIL, "password": PASSWORD}
    return PreparedOperation(
        warm_up=lambda: user.send("GET", "/session"),
        request=lambda: other.send("POST", "/auth/login", body),
        is_done=lambda: len(app.tables.rows("sessions")) > before,
        needs_ticks=False,
        ticks_before=0,
    )


def logout(app: InProcessApp) -> PreparedOperation:
    return api_operation(app, "POST", "/auth/logout", is_done=lambda: not app.tables.rows("sessions"))


def _body(row: Mapping[str, Any]) -> Json:
    found: Json = json.loads(row["body"])
    return found


def _tested(row: Json | None) -> bool:
    return row is not None and row["last_tested_at"] is not None


def _undiscovered(app: InProcessApp) -> Any:
    return app.services.sources.create(app.context(), system_input("source", next(app.numbers)))


REGISTERED_CASES = named_cases(
    ("source create", creating("/sources", lambda _: system("new"))),
    (
        "source update",
        changing("/sources", InProcessApp.source, lambda _: system("other", host="database1.example.com")),
    ),
    ("source move", moved_source),
    ("source delete", deleting("/sources", InProcessApp.source)),
    ("source test", acting("/sources", InProcessApp.source, "test", _tested)),
    ("source rotation", rotating("/sources", InProcessApp.source)),
    ("source discovery", job("discover")),
    ("source health", job("health")),
    ("destination create", creating("/destinations", lambda _: system("new"))),
    ("destination update", changing("/destinations", InProcessApp.destination, lambda _: system("other"))),
    ("destination delete", deleting("/destinations", InProcessApp.destination)),
    ("destination rotation", rotating("/destinations", InProcessApp.destination)),
    ("destination test", acting("/destinations", InProcessApp.destination, "test", _tested)),
    ("connection create", creating("/connections", lambda _: system("new"))),
    ("connection move", moved_connection),
    ("connection delete", deleting("/connections", InProcessApp.connection)),
    ("connection rotation", rotating("/connections", used_connection)),
    ("connection test", acting("/connections", InProcessApp.connection, "test", _tested)),
    ("source create with a connection", creating("/sources", using)),
    ("source update with a connection", joined_connection),
    ("source update without a connection", left_connection),
    ("source delete with a connection", deleting("/sources", source_of_connection)),
    ("stream cluster create", creating("/stream/clusters", lambda app: stream_body(app, "new"))),
    (
        "stream cluster update",
        changing("/stream/clusters", lambda app: app.stream, lambda app: stream_body(app, "other")),
    ),
    ("stream cluster rotation", rotating("/stream/clusters", lambda app: app.stream)),
    ("stream cluster delete", deleting("/stream/clusters", lambda app: app.stream)),
    ("topic delete", topic_deletion),
    ("Connect cluster create", creating("/connect/clusters", lambda app: connect_body(app, "new"))),
    (
        "Connect cluster update",
        changing("/connect/clusters", lambda app: app.cluster, lambda app: connect_body(app, "other")),
    ),
    ("Connect cluster rotation", rotating("/connect/clusters", lambda app: app.cluster)),
    ("Connect cluster delete", deleting("/connect/clusters", lambda app: app.cluster)),
    ("pipeline create", creating("/pipelines", new_pipeline)),
    ("channel create", creating("/notification-channels", lambda _: channel_body("new"))),
    ("channel update", changing("/notification-channels", channel, lambda _: channel_body("other"))),
    (
        "channel move",
        changing(
            "/notification-channels",
            channel,
            lambda _: channel_body("other", webhook_url="https://hooks.slack.com/services/planted-too"),
        ),
    ),
    ("channel delete", deleting("/notification-channels", channel)),
    ("login", login),
    ("logout", logout),
)
