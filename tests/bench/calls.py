"""DynamoDB calls of every operation that people use most, with the tables as full as an installation may be."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from tests.bench.meter import Metered, metered
from tests.bench.seeds import copies, put_rows
from tests.bench.stage import CREDENTIAL, Stage

FULL = 10_000
BUDGETS = {"get": 3, "get with a list": 4, "list": 3, "mutation": 5, "operation": 8, "session": 2, "public": 4}
"""Design, section 10; authentication is one call of each. The detail of a pipeline also lists its deliveries. A session
route reads the session twice: to authenticate, and to answer.
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
        """How many calls to DynamoDB it may make."""
        return BUDGETS[self.kind]

    @property
    def holds(self) -> bool:
        """Whether it keeps to it."""
        return self.seen.total <= self.budget


@dataclass(kw_only=True)
class World:
    """What is registered on the stage, by id."""

    stage: Stage
    source: str = ""
    credentials: str = ""
    stream: str = ""
    connect: str = ""
    pipeline: str = ""
    destination: str = ""
    delivery: str = ""
    job: str = ""

    def body(self, **more: Any) -> dict[str, Any]:
        """The input of a source or destination on the stage's PostgreSQL."""
        server = self.stage.postgresql
        config = {"host": "127.0.0.1", "port": server.port, "database_name": "bench", "username": "postgres"}
        return {
            "name": f"bench {next(self.stage.numbers)}",
            "provider": "postgresql",
            "config": config,
            "credentials": {"password": server.superuser_password},
            **more,
        }


def furnish(stage: Stage, tables: int, sources: int = FULL) -> World:
    """Registers one of everything through the API, discovers so many tables, and fills the table of sources."""
    world = World(stage=stage)
    with stage.postgresql.connect() as admin:
        admin.execute("CREATE DATABASE bench")
    with stage.postgresql.connect("bench") as admin:
        for number in range(tables):
            admin.execute(f"CREATE TABLE t{number} (id bigint PRIMARY KEY, a text, b numeric(10,2))".encode())
    call = stage.call
    world.source = call("POST", "/sources", world.body())["id"]
    world.destination = call("POST", "/destinations", world.body())["id"]
    doubles = stage.doubles
    world.stream = call("POST", "/stream/clusters", {"name": "s", "bootstrap_servers": doubles.kafka})["id"]
    cluster = {"name": "c", "base_url": doubles.connect, "stream_cluster_id": world.stream}
    world.connect = call("POST", "/connect/clusters", cluster)["id"]
    stores = stage.services.stores
    source = stores.sources.get(world.source)
    world.credentials = source.credentials.id
    put_rows(copies(stores.sources, source, sources))
    return world


def discover(world: World) -> Metered:
    """One discovery as its worker does it."""
    from chalicelib.kit.clock import Deadline

    world.job = world.stage.call("POST", f"/sources/{world.source}/discover")["id"]
    with metered() as seen:
        world.stage.services.jobs.run(world.job, Deadline.after(50))
    done = world.stage.call("GET", f"/jobs/{world.job}")
    assert done["status"] == "COMPLETED", done
    return seen


def operations(world: World) -> Iterator[Operation]:
    """Every operation, measured once, warm: the process has served before."""
    stage = world.stage
    measure = _Measuring(stage)
    source, sources = f"/sources/{world.source}", "/sources"
    yield measure("GET /auth/session", "session")
    yield measure("GET /sources/{uuid}", "get", path=source)
    yield measure("GET /sources (10,000)", "list", path=f"{sources}?limit=50")
    yield measure("GET /sources/{uuid}/tables (500)", "list", path=f"{source}/tables?limit=500")
    yield measure("GET /jobs/{uuid}", "get", path=f"/jobs/{world.job}")
    yield measure("GET /audit", "list", path="/audit")
    yield measure("GET /connect/clusters", "list", path="/connect/clusters")
    login = {"email": "admin@example.com", "password": "correct horse battery staple"}
    yield measure("POST /auth/login", "public", path="/auth/login", body=login)
    key = {"Idempotency-Key": "bench-key-1"}
    yield measure("POST /sources", "mutation", path=sources, body=world.body())
    yield measure("POST /sources with Idempotency-Key", "mutation", path=sources, body=world.body(), headers=key)
    yield measure("PUT /sources/{uuid}", "mutation", path=source, body=_unchanged(world))
    yield measure("PUT /sources/{uuid}, secret rotated", "mutation", path=source, body=world.body())
    yield measure("POST /sources/{uuid}/discover", "mutation", path=f"{source}/discover")
    yield from _pipelines(world, measure)
    yield measure(
        "DELETE /sources/{uuid}", "mutation", path=f"/sources/{stage.call('POST', sources, world.body())['id']}"
    )
    yield measure("GET /internal/secrets/{uuid}", "get", send=lambda: _secrets(world))


def _pipelines(world: World, measure: "_Measuring") -> Iterator[Operation]:
    stage = world.stage
    body = {
        "name": "p", "source_id": world.source, "stream_cluster_id": world.stream,
        "connect_cluster_id": world.connect, "topic_prefix": "p",
        "tables": [{"schema_name": "public", "table_name": "t0"}],
    }  # fmt: skip
    discover(world)
    yield measure("POST /pipelines", "mutation", path="/pipelines", body=body)
    world.pipeline = measure.answer["id"]
    one = f"/pipelines/{world.pipeline}"
    yield measure("POST /pipelines/{uuid}/deploy", "operation", path=f"{one}/deploy")
    _tick(world)
    yield measure("GET /pipelines/{uuid}", "get with a list", path=one)
    yield measure("GET /pipelines/{uuid}/status", "get", path=f"{one}/status")
    yield measure("GET /pipelines", "list", path="/pipelines")
    yield measure("GET /pipelines/{uuid}/destinations", "list", path=f"{one}/destinations")
    yield measure("POST /pipelines/{uuid}/pause", "operation", path=f"{one}/pause")
    yield measure("POST /pipelines/{uuid}/resume", "operation", path=f"{one}/resume")
    yield measure("POST /pipelines/{uuid}/restart", "operation", path=f"{one}/restart")
    stage.doubles.kafka_double.state.create_topic("p.public.t0")
    mapping = {"topic": "p.public.t0", "schema_name": "public", "table_name": "copy"}
    delivery = {"pipeline_id": world.pipeline, "name": "d", "mappings": [mapping]}
    deploy = f"/destinations/{world.destination}/deploy"
    preview = f"/destinations/{world.destination}/preview"
    yield measure("POST /destinations/{uuid}/test", "mutation", path=f"/destinations/{world.destination}/test")
    yield measure("POST /destinations/{uuid}/preview", "mutation", path=preview, body=delivery)
    yield measure("POST /destinations/{uuid}/deploy", "operation", path=deploy, body=delivery)
    world.delivery = measure.answer["id"]
    sink = f"/deliveries/{world.delivery}"
    yield measure("GET /deliveries/{uuid}", "get", path=sink)
    yield measure("GET /deliveries/{uuid}/status", "get", path=f"{sink}/status")
    yield measure("GET /deliveries", "list", path="/deliveries")
    changed = {"mappings": [{**mapping, "table_name": "other_copy"}]}
    yield measure("PUT /deliveries/{uuid}/mappings", "operation", path=f"{sink}/mappings", body=changed)
    yield measure("POST /deliveries/{uuid}/pause", "operation", path=f"{sink}/pause")
    yield measure("GET /destinations/{uuid}", "get", path=f"/destinations/{world.destination}")
    yield measure("DELETE /deliveries/{uuid}", "operation", method="DELETE", path=sink)
    yield measure("DELETE /pipelines/{uuid}", "operation", method="DELETE", path=one)


@dataclass
class _Measuring:
    stage: Stage
    answer: Any = None

    def __call__(
        self, name: str, kind: str, *, path: str = "", send: Callable[[], Any] | None = None, **more: Any
    ) -> Operation:
        method = name.partition(" ")[0]
        where = path or name.split(" ")[1]
        before = self.stage.doubles.connect_double.calls.count()
        event = None if send else self.stage.event(method, "/api/v1" + where, more.get("body"), more.get("headers"))
        with metered() as seen:
            self.answer = send() if send else self.stage.send(event)
        return Operation(
            name=name, kind=kind, seen=seen, connect_calls=self.stage.doubles.connect_double.calls.count() - before
        )


def _unchanged(world: World) -> dict[str, Any]:
    return {**world.body(), "credentials": {}}


def _tick(world: World) -> None:
    from chalicelib.kit.clock import Deadline

    for _ in range(3):
        world.stage.services.tick.run(world.connect, Deadline.after(20))
    stores = world.stage.services.stores
    stores.observations.read([world.connect])


def _secrets(world: World) -> Any:
    path = f"/internal/secrets/{world.credentials}"
    return world.stage.send(world.stage.event("GET", path, headers={"Authorization": f"Bearer {CREDENTIAL}"}))
