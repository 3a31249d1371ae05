"""Every route that changes something, called once with success over the whole API, and what that wrote."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from chalicelib.domain.monitoring.condition import Condition, ConditionCode
from chalicelib.domain.monitoring.report import MonitorReport
from chalicelib.kit.clock import Deadline, rfc3339
from chalicelib.kit.ids import new_id
from chalicelib.stores.transaction import Transaction
from tests.faults.harness.whole_app import EMAIL, PASSWORD, ApiUser, answered, deliver, messages
from tests.support.alerting.rows import an_alert
from tests.support.apps.edge import ClientResponse
from tests.support.apps.in_process_app import InProcessApp
from tests.support.apps.second_factors import app_code

Json = dict[str, Any]
TESTED = ("destinations", "connections")
ROTATED = ("sources", "destinations", "connections", "stream/clusters", "connect/clusters")
ANOTHER_PASSWORD = "seven green kites over rooftops"


@dataclass(frozen=True, kw_only=True)
class Done:
    """One request: its route, its answer, its records, and the transactions that it made."""

    route: str
    status: int
    records: list[Json]
    transactions: list[list[Json]]


@dataclass(kw_only=True)
class Caller:
    """Sends requests with a correlation id of their own. `cookie` or `token` says who it is."""

    app: InProcessApp
    cookie: str = ""
    token: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)

    def send(self, method: str, path: str, body: Any = None) -> tuple[ClientResponse, str]:
        """The answer, and the correlation id."""
        correlation = new_id()
        headers = {"host": "127.0.0.1:8000", "content-type": "application/json", "x-correlation-id": correlation}
        headers |= {"cookie": self.cookie} if self.cookie else {}
        headers |= {"authorization": f"Bearer {self.token}"} if self.token else {}
        content = json.dumps(body).encode() if body is not None else b""
        return answered(method, path, headers | dict(self.headers), content), correlation

    def sign_in(self, email: str, password: str) -> str:
        answer, _ = self.send("POST", "/api/v1/auth/login", {"email": email, "password": password})
        return str(answer.headers["set-cookie"]).partition(";")[0]


def records_of(app: InProcessApp, correlation: str) -> list[Json]:
    """The records of one request, oldest first."""
    rows = sorted(app.tables.rows("audit"), key=lambda row: str(row["position"]))
    found = (json.loads(row["body"]) | {"position": row["position"]} for row in rows)
    return [one for one in found if one["correlation_id"] == correlation]


@dataclass(kw_only=True)
class EveryChange:
    """The day of an Admin who uses everything."""

    app: InProcessApp
    admin: Caller = field(init=False)
    answer: Json = field(default_factory=dict)

    def __post_init__(self) -> None:
        ApiUser.signed_in(self.app)
        self.admin = Caller(app=self.app)
        self.admin.cookie = self.admin.sign_in(EMAIL, PASSWORD)

    def run(self) -> Iterator[Done]:
        """All requests, in an order in which each one has something to change."""
        yield from self._access()
        yield from self._registered()
        yield from self._pipelines()
        yield from self._deliveries()
        yield from self._alerting()
        yield self._do("POST /api/v1/auth/logout")

    def _do(self, route: str, body: Any = None, *, caller: Caller | None = None, query: str = "", **ids: str) -> Done:
        method, _, template = route.partition(" ")
        path = template
        for name, value in ids.items():
            path = path.replace(f"{{{name}}}", value)
        self.app.clock.advance(1)
        self.app.connect.settle()
        self.app.interceptor.watch()
        try:
            answer, correlation = (caller or self.admin).send(method, path + query, body)
        finally:
            points = self.app.interceptor.unwatch()
        self.answer = json.loads(answer.body) if answer.body else {}
        if "set-cookie" in answer.headers and caller is None:
            self.admin.cookie = str(answer.headers["set-cookie"]).partition(";")[0]
        sent: list[Any] = [point.request for point in points if point.operation == "TransactWriteItems"]
        records = records_of(self.app, correlation)
        transactions = [one.body["TransactItems"] for one in sent]
        return Done(route=route, status=answer.status, records=records, transactions=transactions)

    def _access(self) -> Iterator[Done]:
        invite = {"email": "ops@example.com", "role": "Ops"}
        yield self._do("POST /api/v1/users/invite", invite)
        user, token = self.answer["id"], self.answer["token"]
        yield self._do("POST /api/v1/invites/{token}/accept", {"password": ANOTHER_PASSWORD}, token=token)
        yield self._do("PATCH /api/v1/users/{uuid}/role", {"role": "Viewer"}, uuid=user)
        yield self._do("POST /api/v1/users/{uuid}/disable", uuid=user)
        yield self._do("POST /api/v1/users/{uuid}/enable", uuid=user)
        yield from self._second_factor_of_user(user)
        yield self._do("DELETE /api/v1/users/{uuid}", uuid=user)
        yield self._do("POST /api/v1/auth/login", {"email": EMAIL, "password": PASSWORD})
        yield from self._sessions()
        yield from self._second_factor(self.admin, PASSWORD)
        change = {"current_password": PASSWORD, "new_password": ANOTHER_PASSWORD}
        yield self._do("POST /api/v1/auth/password", change)
        yield self._do("POST /api/v1/auth/tokens", {"name": "t", "role": "Viewer"})
        yield self._do("DELETE /api/v1/auth/tokens/{uuid}", uuid=self.answer["id"])

    def _sessions(self) -> Iterator[Done]:
        Caller(app=self.app).sign_in(EMAIL, PASSWORD)
        listed, _ = self.admin.send("GET", "/api/v1/auth/sessions")
        other = next(session["id"] for session in json.loads(listed.body) if not session["current"])
        yield self._do("DELETE /api/v1/auth/sessions/{uuid}", uuid=other)
        yield self._do("POST /api/v1/auth/sessions/end-others")

    def _second_factor(self, caller: Caller, password: str) -> Iterator[Done]:
        yield from self._with_second_factor(caller)
        body = {"password": password, "code": self.answer["recovery_codes"][0]}
        yield self._do("DELETE /api/v1/auth/totp", body, caller=caller)

    def _second_factor_of_user(self, user: str) -> Iterator[Done]:
        person = Caller(app=self.app)
        person.cookie = person.sign_in("ops@example.com", ANOTHER_PASSWORD)
        yield from self._with_second_factor(person)
        yield self._do("DELETE /api/v1/users/{uuid}/totp", uuid=user)

    def _with_second_factor(self, caller: Caller) -> Iterator[Done]:
        yield self._do("POST /api/v1/auth/totp", caller=caller)
        code = app_code(self.answer["secret"], self.app.clock.now)
        yield self._do("POST /api/v1/auth/totp/confirm", {"code": code}, caller=caller)

    def _registered(self) -> Iterator[Done]:
        for path, bodies in self._registered_bodies().items():
            yield self._do(f"POST /api/v1/{path}", bodies[0])
            one = self.answer["id"]
            yield self._do(f"PUT /api/v1/{path}/{{uuid}}", bodies[1], uuid=one)
            if path in ROTATED:
                rotated = {"credentials": {"password": "planted-next"}}
                yield self._do(f"POST /api/v1/{path}/{{uuid}}/credentials", rotated, uuid=one, query="?force=true")
            for verb in {"sources": ("test", "discover", "health")}.get(path, ("test",) if path in TESTED else ()):
                yield self._do(f"POST /api/v1/{path}/{{uuid}}/{verb}", uuid=one)
                for message in messages("jobs"):
                    deliver("jobs", message)
            yield self._do(f"DELETE /api/v1/{path}/{{uuid}}", uuid=one)

    def _registered_bodies(self) -> dict[str, tuple[Json, Json]]:
        app, system = self.app, {"provider": "postgresql", "credentials": {"password": "planted"}}
        config = {"host": "database.example.com", "database_name": "shop", "username": "headgate"}
        stream = {"bootstrap_servers": app.kafka.address, "security_protocol": "PLAINTEXT"}
        connect = {"base_url": app.connect.url, "stream_cluster_id": app.stream.id}
        chat = {"provider": "chat-webhook", "config": {"webhook_url": "https://hooks.slack.com/services/planted"}}
        found = {
            "sources": {**system, "config": config},
            "destinations": {**system, "config": config},
            "connections": {**system, "config": config},
            "stream/clusters": stream,
            "connect/clusters": connect,
            "notification-channels": chat,
            "alert-rules": {},
        }
        return {path: ({**body, "name": "one"}, {**body, "name": "other"}) for path, body in found.items()}

    def _pipelines(self) -> Iterator[Done]:
        app = self.app
        tables = [{"schema_name": "shop", "table_name": table} for table in app.database.tables]
        body = {
            "name": "p", "source_id": app.source().id, "stream_cluster_id": app.stream.id,
            "connect_cluster_id": app.cluster.id, "topic_prefix": "p", "tables": tables,
        }  # fmt: skip
        yield self._do("POST /api/v1/pipelines", body)
        one = self.answer["id"]
        for verb in ("deploy", "pause", "resume", "restart"):
            yield self._do(f"POST /api/v1/pipelines/{{uuid}}/{verb}", uuid=one)
        yield self._do("POST /api/v1/pipelines/{uuid}/restart-task", uuid=one, query="?task=0")
        yield self._do("DELETE /api/v1/pipelines/{uuid}", uuid=one)

    def _deliveries(self) -> Iterator[Done]:
        app = self.app
        pipeline, destination = app.deployed_pipeline(), app.destination().id
        topic, of_destination = pipeline.capture.topics[0], "/api/v1/destinations/{uuid}/deliveries/{delivery_uuid}"
        mapping = {"topic": topic, "schema_name": "target", "table_name": "orders"}
        body = {"pipeline_id": pipeline.id, "name": "d", "mappings": [mapping]}
        for first in (True, False):
            yield self._do("POST /api/v1/destinations/{uuid}/deploy", body, uuid=destination)
            one = self.answer["id"]
            ids = {"uuid": one} if first else {"uuid": destination, "delivery_uuid": one}
            changed = {"mappings": [{**mapping, "table_name": "other"}]}
            path = "/api/v1/deliveries/{uuid}" if first else of_destination
            yield self._do(f"PUT {path}/mappings", changed, **ids)
            for verb in ("pause", "resume", "restart"):
                yield self._do(f"POST /api/v1/{'deliveries' if first else 'destinations'}/{{uuid}}/{verb}", **ids)
            if first:
                yield self._do("POST /api/v1/deliveries/{uuid}/restart-task", query="?task=0", **ids)
            else:
                yield self._do(f"POST {of_destination}/tasks/{{task_id}}/restart", task_id="0", **ids)
            yield self._do(f"DELETE {path}", **ids)

    def _alerting(self) -> Iterator[Done]:
        app = self.app
        transaction, alert = Transaction(), an_alert()
        app.services.stores.alerts.alerts.put_new(transaction, alert)
        transaction.commit()
        yield self._do("POST /api/v1/alerts/{uuid}/acknowledge", {"note": "n"}, uuid=alert.id)
        yield self._do("POST /api/v1/alerts/{uuid}/silence", {"duration_seconds": 60}, uuid=alert.id)
        yield self._do("POST /api/v1/alerts/{uuid}/unsilence", uuid=alert.id)
        begin, end = (rfc3339(app.clock() + timedelta(seconds=seconds)) for seconds in (0, 60))
        work = {"name": "w", "from": begin, "until": end, "reason": "w", "scope": {"labels": {"team": "shop"}}}
        yield self._do("POST /api/v1/maintenance", work)
        yield self._do("DELETE /api/v1/maintenance/{uuid}", uuid=self.answer["id"])
        incident = self._incident()
        yield self._do("PATCH /api/v1/operations/errors/{uuid}", query="?status=ACKNOWLEDGED", uuid=incident)

    def _incident(self) -> str:
        """The id of one that is open."""
        broken = Condition(
            code=ConditionCode.CONNECTOR_FAILED, resource_type="pipeline", resource_id="p", message="It has failed."
        )
        report = MonitorReport(origin="connect_cluster/k", at=self.app.clock(), conditions=(broken,))
        assert self.app.services.incidents.record(report, Deadline.after(20)).complete
        return self.app.services.incidents.list(limit=1).items[0].id
