"""DynamoDB calls of the most used operations, with 10,000 sources in the tables."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from chalicelib.domain.connection import MAX_USERS
from tests.bench.bench_app import CREDENTIAL, BenchApp
from tests.bench.dynamodb_meter import Metered, metered
from tests.bench.seeds import copies, put_rows

FULL = 10_000
BUDGETS = {
    "get": 3,
    "get with a list": 4,
    "list": 3,
    "mutation": 5,
    "change of 25": 30,
    "deletion of a user": 6,
    "overview": 8,
    "overview of alerts": 12,
    "preview": 13,
    "test": 9,
    "live read": 7,
    "live read of groups": 8,
    "known": 4,
    "operation": 8,
    "checked delivery": 10,
    "deployed delivery": 11,
    "session": 2,
    "public": 8,
    "login": 6,
    "summary": 5,
}
"""The budgets of the design. Authentication is one of the calls. The detail of a pipeline also lists its deliveries.
A change of a connection lists the connectors of each of its users, to name those that are outdated now. A source that
is deleted is read before the connection that names it. The session route reads the session twice: for authentication,
and for its answer. A live read takes the lease of the server that it asks, and one of groups reads their deliveries and
then the Connect clusters of these; tests and previews of one user have a bound (`infra/decisions/031-live-reads.md`).

The checks of a delivery need two calls more than the design allows: the source says under which generation its tables
are stored, and which dialects of SQL its Connect cluster has sinks of is stored beside it. The first preview of a
destination also stores which server it is. The deploy also looks for the incident of an earlier one that has failed.
The summary of alerts walks the index of active ones, counts the resolved ones and reads the newest.
"""


@dataclass(frozen=True, kw_only=True)
class Operation:
    """One line of the table."""

    name: str
    kind: str
    seen: Metered
    connect_calls: int

    @property
    def budget(self) -> int:
        return BUDGETS[self.kind]

    @property
    def holds(self) -> bool:
        return self.seen.total <= self.budget


@dataclass(kw_only=True)
class BenchData:
    """The app, and the ids of what is registered in it."""

    bench_app: BenchApp
    source: str = ""
    credentials: str = ""
    stream: str = ""
    connect: str = ""
    pipeline: str = ""
    destination: str = ""
    delivery: str = ""
    job: str = ""

    def body(self, **more: Any) -> dict[str, Any]:
        """The body of a source or destination on the PostgreSQL of the app."""
        server = self.bench_app.postgresql
        config = {"host": "127.0.0.1", "port": server.port, "database_name": "bench", "username": "postgres"}
        return {
            "name": f"bench {next(self.bench_app.numbers)}",
            "provider": "postgresql",
            "config": config,
            "credentials": {"password": server.superuser_password},
            **more,
        }

    def pipeline_body(self) -> dict[str, Any]:
        """The body of a pipeline of one table, which has to be discovered."""
        return {
            "name": "p", "source_id": self.source, "stream_cluster_id": self.stream,
            "connect_cluster_id": self.connect, "topic_prefix": "p",
            "tables": [{"schema_name": "public", "table_name": "t0"}],
        }  # fmt: skip


def create_data(bench_app: BenchApp, tables: int, sources: int = FULL) -> BenchData:
    """Register one resource of each kind, create `tables` tables to discover, and store so many sources."""
    data = BenchData(bench_app=bench_app)
    with bench_app.postgresql.connect() as admin:
        admin.execute("CREATE DATABASE bench")
    with bench_app.postgresql.connect("bench") as admin:
        for number in range(tables):
            admin.execute(f"CREATE TABLE t{number} (id bigint PRIMARY KEY, a text, b numeric(10,2))".encode())
    call = bench_app.call
    data.source = call("POST", "/sources", data.body())["id"]
    data.destination = call("POST", "/destinations", data.body())["id"]
    doubles = bench_app.doubles
    # Whether a tick is one that measures progress depends on the clock: what that costs is measured by the storm.
    brokers = {"name": "s", "bootstrap_servers": doubles.kafka, "metrics_provider": "none"}
    data.stream = call("POST", "/stream/clusters", brokers)["id"]
    cluster = {"name": "c", "base_url": doubles.connect, "stream_cluster_id": data.stream}
    data.connect = call("POST", "/connect/clusters", cluster)["id"]
    stores = bench_app.services.stores
    source = stores.resources.sources.get(data.source)
    data.credentials = source.credentials.id
    put_rows(copies(stores.resources.sources, source, sources))
    call("GET", "/sources?limit=1")  # its cursor is the first one: a process reads the key that signs them once
    assert bench_app.services.clients.installation.id  # and so it reads the id that connectors carry
    return data


def discover(data: BenchData) -> Metered:
    from chalicelib.kit.clock import Deadline

    data.job = data.bench_app.call("POST", f"/sources/{data.source}/discover")["id"]
    with metered() as seen:
        data.bench_app.services.jobs.run(data.job, Deadline.after(50))
    done = data.bench_app.call("GET", f"/jobs/{data.job}")
    assert done["status"] == "COMPLETED", done
    return seen


def operations(data: BenchData) -> Iterator[Operation]:
    """Every operation, measured once in a process that has served requests before."""
    bench_app = data.bench_app
    measure = _Measurement(bench_app)
    source, sources = f"/sources/{data.source}", "/sources"
    yield measure("GET /auth/session", "session")
    yield measure("GET /sources/{uuid}", "get", path=source)
    yield measure("GET /sources (10,000)", "list", path=f"{sources}?limit=50")
    yield measure("GET /sources/{uuid}/tables (500)", "list", path=f"{source}/tables?limit=500")
    yield measure("GET /data/schemas (500)", "list", path=f"/data/schemas?source_id={data.source}&limit=500")
    yield measure("GET /jobs/{uuid}", "get", path=f"/jobs/{data.job}")
    yield measure("GET /audit", "list", path="/audit")
    bench_app.services.overview.count(within_seconds=60)  # the schedule does so each minute
    yield measure("GET /monitoring/overview", "overview", path="/monitoring/overview")
    yield measure("GET /connect/clusters", "list", path="/connect/clusters")
    login = {"email": "admin@example.com", "password": "correct horse battery staple"}
    yield measure("POST /auth/login", "login", path="/auth/login", body=login)
    bench_app.sign_in()  # a new session ends the one before
    key = {"Idempotency-Key": "bench-key-1"}
    yield measure("POST /sources", "mutation", path=sources, body=data.body())
    yield measure("POST /sources with Idempotency-Key", "mutation", path=sources, body=data.body(), headers=key)
    yield measure("PUT /sources/{uuid}", "mutation", path=source, body=_unchanged(data))
    yield measure("PUT /sources/{uuid}, secret rotated", "mutation", path=source, body=data.body())
    yield from _connections(data, measure)
    yield measure("POST /sources/{uuid}/discover", "mutation", path=f"{source}/discover")
    yield from _pipelines(data, measure)
    yield from _alerts(data, measure)
    yield measure(
        "DELETE /sources/{uuid}", "mutation", path=f"/sources/{bench_app.call('POST', sources, data.body())['id']}"
    )
    yield measure("GET /internal/secrets/{uuid}", "get with a list", send=lambda: _secrets(data))


def _connections(data: BenchData, measure: "_Measurement") -> Iterator[Operation]:
    """A connection with as many users as it may have, without a pipeline or delivery."""
    yield measure("POST /connections", "mutation", path="/connections", body=data.body())
    path, uses = f"/connections/{measure.answer['id']}", {"connection_id": measure.answer["id"]}
    yield measure("POST /sources with a connection", "mutation", path="/sources", body={"name": "first", **uses})
    user = f"/sources/{measure.answer['id']}"
    for number in range(MAX_USERS - 1):
        kind = "sources" if number % 2 else "destinations"
        data.bench_app.call("POST", f"/{kind}", {"name": f"user {number}", **uses})
    yield measure("GET /connections/{uuid} (25 users)", "get", path=path)
    yield measure("GET /connections", "list", path="/connections?capability=SOURCE")
    yield measure("PUT /connections/{uuid}, renamed", "mutation", path=path, body=_unchanged(data))
    yield measure("PUT /connections/{uuid}, rotated (25 users)", "change of 25", path=path, body=data.body())
    yield measure("PUT /sources/{uuid} with a connection, renamed", "mutation", path=user, body={"name": "n", **uses})
    yield measure("PUT /sources/{uuid}, from a connection", "mutation", path=user, body=data.body())
    yield measure("PUT /sources/{uuid}, to a connection", "mutation", path=user, body={"name": "n", **uses})
    yield measure("DELETE /sources/{uuid} with a connection", "deletion of a user", path=user)


def _pipelines(data: BenchData, measure: "_Measurement") -> Iterator[Operation]:
    bench_app = data.bench_app
    discover(data)
    yield measure("POST /pipelines", "mutation", path="/pipelines", body=data.pipeline_body())
    data.pipeline = measure.answer["id"]
    one = f"/pipelines/{data.pipeline}"
    yield measure("POST /pipelines/{uuid}/deploy", "operation", path=f"{one}/deploy")
    _tick(data)
    yield measure("GET /pipelines/{uuid}", "get with a list", path=one)
    yield measure("GET /pipelines/{uuid}/status", "live read", path=f"{one}/status")
    yield measure("GET /pipelines/{uuid}/status, known for 5 s", "known", path=f"{one}/status")
    yield measure("GET /pipelines", "list", path="/pipelines")
    yield measure("GET /pipelines/{uuid}/destinations", "list", path=f"{one}/destinations")
    yield measure("POST /pipelines/{uuid}/pause", "operation", path=f"{one}/pause")
    yield measure("POST /pipelines/{uuid}/resume", "operation", path=f"{one}/resume")
    yield measure("POST /pipelines/{uuid}/restart", "operation", path=f"{one}/restart")
    bench_app.doubles.kafka_double.state.create_topic("p.public.t0")
    mapping = {"topic": "p.public.t0", "schema_name": "public", "table_name": "copy"}
    delivery = {"pipeline_id": data.pipeline, "name": "d", "mappings": [mapping]}
    deploy = f"/destinations/{data.destination}/deploy"
    preview = f"/destinations/{data.destination}/preview"
    yield measure("POST /destinations/{uuid}/test", "test", path=f"/destinations/{data.destination}/test")
    yield measure("POST /destinations/{uuid}/preview", "preview", path=preview, body=delivery)
    yield measure("POST /destinations/{uuid}/deploy", "deployed delivery", path=deploy, body=delivery)
    data.delivery = measure.answer["id"]
    sink = f"/deliveries/{data.delivery}"
    yield measure("GET /deliveries/{uuid}", "get", path=sink)
    yield measure("GET /deliveries/{uuid}/status", "live read", path=f"{sink}/status")
    yield measure("GET /deliveries", "list", path="/deliveries")
    connectors, groups = "/connect/connectors", "/stream/consumer-groups"
    yield measure(f"GET {connectors}", "live read", path=f"{connectors}?cluster_id={data.connect}")
    yield measure(f"GET {groups}", "live read of groups", path=f"{groups}?cluster_id={data.stream}")
    changed = {"mappings": [{**mapping, "table_name": "other_copy"}]}
    yield measure("PUT /deliveries/{uuid}/mappings", "checked delivery", path=f"{sink}/mappings", body=changed)
    yield measure("POST /deliveries/{uuid}/pause", "operation", path=f"{sink}/pause")
    yield measure("GET /destinations/{uuid}", "get", path=f"/destinations/{data.destination}")
    _put_alerts_about(data, ("pipeline", data.pipeline), ("delivery", data.delivery))
    yield measure("GET /monitoring/overview, alerts", "overview of alerts", path="/monitoring/overview")
    yield measure("DELETE /deliveries/{uuid}", "operation", method="DELETE", path=sink)
    yield measure("DELETE /pipelines/{uuid}", "operation", method="DELETE", path=one)


def _alerts(data: BenchData, measure: "_Measurement") -> Iterator[Operation]:
    alert, rule, kept = _put_alerts(data), {"name": "r"}, {"source_ids": [data.source]}
    one = f"/alerts/{alert}"
    yield measure("GET /alerts (100)", "list", path="/alerts")
    yield measure("GET /alerts?status=active", "list", path="/alerts?status=active&severity=critical")
    yield measure("GET /alerts/summary", "summary")
    yield measure("GET /alerts/{uuid}", "get", path=one)
    yield measure("POST /alerts/{uuid}/acknowledge", "mutation", path=f"{one}/acknowledge", body={"note": "n"})
    yield measure("POST /alerts/{uuid}/silence", "mutation", path=f"{one}/silence", body={"duration_seconds": 60})
    yield measure("POST /alerts/{uuid}/unsilence", "mutation", path=f"{one}/unsilence")
    yield measure("POST /alert-rules", "mutation", path="/alert-rules", body=rule)
    path = f"/alert-rules/{measure.answer['id']}"
    yield measure("GET /alert-rules", "list", path="/alert-rules")
    yield measure("GET /alert-rules/{uuid}", "get", path=path)
    yield measure("PUT /alert-rules/{uuid}", "mutation", path=path, body={**rule, **kept})
    yield measure("DELETE /alert-rules/{uuid}", "mutation", path=path)
    times = {"from": "2030-06-01T20:00:00Z", "until": "2030-06-01T22:00:00Z"}
    work = {"name": "w", "reason": "w", "scope": {"source_ids": [data.source]}, **times}
    yield measure("POST /maintenance", "mutation", path="/maintenance", body=work)
    path = f"/maintenance/{measure.answer['id']}"
    yield measure("GET /maintenance", "list", path="/maintenance")
    yield measure("DELETE /maintenance/{uuid}", "mutation", path=path)
    yield measure("GET /notification-channels", "list", path="/notification-channels")
    yield measure("GET /metrics", "public", send=lambda: _metrics(data))


def _put_alerts(data: BenchData) -> str:
    """A hundred alerts that fire; returns the id of one."""
    from tests.support.alerting.rows import an_alert

    store = data.bench_app.services.stores.alerts.alerts
    every = [an_alert(number) for number in range(100)]
    put_rows(store._row(alert, "seed") for alert in every)
    return every[0].id


def _put_alerts_about(data: BenchData, *resources: tuple[str, str]) -> None:
    """An alert about each, which puts it into the overview."""
    from tests.support.alerting.rows import an_alert, an_event

    store = data.bench_app.services.stores.alerts.alerts
    keys = [f"{kind}/{resource_id}/CONNECTOR_FAILED" for kind, resource_id in resources]
    alerts = (an_alert(200 + number, event=an_event(condition_key=key)) for number, key in enumerate(keys))
    put_rows(store._row(alert, "seed") for alert in alerts)


def _metrics(data: BenchData) -> Any:
    answer = data.bench_app.app(data.bench_app.event("GET", "/metrics"), None)
    assert answer["statusCode"] == 200, answer
    return answer["body"]


@dataclass
class _Measurement:
    bench_app: BenchApp
    answer: Any = None

    def __call__(
        self, name: str, kind: str, *, path: str = "", send: Callable[[], Any] | None = None, **more: Any
    ) -> Operation:
        method = name.partition(" ")[0]
        where = path or name.split(" ")[1]
        before = self.bench_app.doubles.connect_double.calls.count()
        event = None if send else self.bench_app.event(method, "/api/v1" + where, more.get("body"), more.get("headers"))
        with metered() as seen:
            self.answer = send() if send else self.bench_app.send(event)
        return Operation(
            name=name, kind=kind, seen=seen, connect_calls=self.bench_app.doubles.connect_double.calls.count() - before
        )


def _unchanged(data: BenchData) -> dict[str, Any]:
    return {**data.body(), "credentials": {}}


def _tick(data: BenchData) -> None:
    from chalicelib.kit.clock import Deadline

    for _ in range(3):
        data.bench_app.services.tick.run(data.connect, Deadline.after(20))
    stores = data.bench_app.services.stores
    stores.connectors.observations.read([data.connect])


def _secrets(data: BenchData) -> Any:
    path = f"/internal/secrets/{data.credentials}"
    return data.bench_app.send(data.bench_app.event("GET", path, headers={"Authorization": f"Bearer {CREDENTIAL}"}))
