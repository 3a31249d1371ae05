"""Prints what a running Headgate answers to a fixed list of requests, so that two versions can be compared:

python -m infra.quality.answers LINES > FILE

LINES has the lines that `./infra/run --no-demo --stack sandbox` prints; the installation must be empty. Ids, times,
ports and other values that differ from run to run are replaced by numbered names: what differs between the files of two
versions is what users would notice. The list leaves out what depends on when a tick comes or a connector reads a
secret.
"""

import json
import re
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx

_ID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|(?<![0-9a-f])[0-9a-f]{32}(?![0-9a-f])")
_VARYING = re.compile(
    r"\d{4}-\d\d-\d\dT[\d:.]+(Z|\+00:00)|(?<=system )\d+|(?<=invites/)[\w-]+|(?<=127\.0\.0\.1:)\d+|(?<=localhost:)\d+"
    r'|(?<="token": ")[^"]+|(?<="fingerprint": ")\w+|(?<="worker_id": ")[^"]+|(?<="latency_ms": )\d+'
    r'|(?<="port": )\d+|(?<="database.port": ")\d+|(?<=_bytes": )\d+|(?<="headgate.secrets": ")\w+'
)
_JOB_SECONDS = 60.0
_SECRET = "a-password-of-this-run"  # noqa: S105  # nosec B105 - of a local run


class Session:
    """A signed-in client that prints each answer."""

    def __init__(self, values: dict[str, str]) -> None:
        self._values = values
        self._client = httpx.Client(
            base_url=values["HEADGATE_URL"], timeout=60, headers={"X-Correlation-ID": "answers"}
        )
        self._ids: dict[str, str] = {}

    def ask(self, method: str, path: str, body: Any = None, *, raw: bytes | None = None, **headers: str) -> Any:
        """Send one request, and print its answer."""
        content = raw if raw is not None else json.dumps(body).encode() if body is not None else None
        sent = {"Content-Type": "application/json", **headers} if content is not None else headers
        answer = self._client.request(method, path, content=content, headers=sent)
        shown = {
            name: answer.headers[name]
            for name in ("content-type", "allow", "etag", "location", "retry-after")
            if name in answer.headers
        }
        print(f"{method} {self._named(path)} -> {answer.status_code} {self._named(json.dumps(shown))}")
        try:
            shown_body = answer.json()
        except ValueError:
            print(self._named(answer.text))
            return None
        print(self._named(json.dumps(shown_body, indent=1, sort_keys=True)))
        return shown_body

    def api(self, method: str, path: str, body: Any = None, **headers: str) -> Any:
        """One request below `/api/v1`."""
        return self.ask(method, f"/api/v1{path}", body, raw=None, **headers)

    def wait_for_job(self, job_id: str) -> None:
        """Wait, without printing, until a job has ended."""
        end = time.monotonic() + _JOB_SECONDS
        while time.monotonic() < end:
            if self._client.get(f"/api/v1/jobs/{job_id}").json()["status"] in ("COMPLETED", "FAILED"):
                return
            time.sleep(0.2)
        raise TimeoutError("The job did not end.")

    def _named(self, text: str) -> str:
        text = _ID.sub(lambda match: self._ids.setdefault(match[0].replace("-", ""), f"<id {len(self._ids)}>"), text)
        return _VARYING.sub("<varies>", text)


def main(lines: Path) -> None:
    """Ask everything."""
    values = dict(line.split("=", 1) for line in lines.read_text().splitlines() if "=" in line)
    session = Session(values)
    session.ask("GET", "/openapi.json")
    for method, path in _public():
        session.ask(method, path)
    credentials = {"email": values["HEADGATE_ADMIN_EMAIL"], "password": values["HEADGATE_ADMIN_PASSWORD"]}
    session.api("POST", "/auth/login", {**credentials, "password": "wrong"})
    session.api("POST", "/auth/login", credentials)
    _malformed(session)
    _people(session)
    resources = _resources(session, values)
    _pipelines(session, resources)
    _alerts(session)
    for path in ("/monitoring/overview", "/operations/errors", "/audit?meaningful=true&limit=200"):
        session.api("GET", path)
    for path in ("/auth/session", "/alerts", "/alerts/summary", "/alerts?pageSize=0", "/audit?limit=0"):
        session.api("GET", path)
    session.api("POST", "/auth/logout")
    session.api("GET", "/session")


def _public() -> Iterator[tuple[str, str]]:
    for path in ("/health", "/ready", "/docs", "/metrics", "/nothing", "/api/v1/nothing", "/api/v1/events"):
        yield "GET", path
    for path in ("/api/v1/sources", "/internal/secrets/x", "/api/v1/internal/secrets/x", "/api/v1/invites/none"):
        yield "GET", path
    yield "DELETE", "/api/v1/sources"
    yield "PUT", "/api/v1/auth/login"


def _malformed(session: Session) -> None:
    for raw in (b"{", b'{"a": NaN}', b'{"a": 1, "a": 2}', b"[" * 40 + b"]" * 40, b"[]", b'"text"', b"x" * 300_000):
        session.ask("POST", "/api/v1/sources", raw=raw)
    session.ask("POST", "/api/v1/sources", raw=b"{}", **{"Content-Type": "text/plain"})
    for query in ("limit=0", "limit=501", "limit=x", "cursor=x", "unknown=1"):
        session.api("GET", f"/sources?{query}")
    session.api("POST", "/sources", {}, **{"Idempotency-Key": "not a key"})
    for kind in ("sources", "destinations", "stream/clusters", "connect/clusters", "pipelines", "alert-rules"):
        session.api("POST", f"/{kind}", {})
        session.api("POST", f"/{kind}", {"name": "${x}", "unknown": 1})
    for kind in ("sources", "destinations", "pipelines", "deliveries", "jobs", "alerts", "alert-rules", "users"):
        session.api("GET", f"/{kind}")
        session.api("GET", f"/{kind}/no-id")
        session.api("GET", f"/{kind}/00000000-0000-4000-8000-000000000000")


def _people(session: Session) -> None:
    invited = session.api("POST", "/users/invite", {"email": "ops@example.com", "role": "Ops"})
    session.api("POST", "/users/invite", {"email": "ops@example.com", "role": "Ops"})
    session.api("GET", f"/invites/{invited['token']}")
    session.api("POST", f"/invites/{invited['token']}/accept", {"password": "short"})
    session.api("POST", f"/invites/{invited['token']}/accept", {"password": _SECRET})
    session.api("GET", f"/invites/{invited['token']}")
    user = invited["id"]
    for verb in ("disable", "enable"):
        session.api("POST", f"/users/{user}/{verb}")
    session.api("PATCH", f"/users/{user}/role", {"role": "Viewer"})
    session.api("PATCH", f"/users/{user}/role", {"role": "King"})
    session.api("GET", "/users")
    token = session.api("POST", "/auth/tokens", {"name": "program", "role": "Viewer"})
    session.api("GET", "/auth/tokens")
    session.api("DELETE", f"/auth/tokens/{token['id']}")
    session.api("DELETE", f"/users/{user}")


def _resources(session: Session, values: dict[str, str]) -> dict[str, str]:
    server = httpx.URL(values["HEADGATE_POSTGRES"])
    database = {
        "provider": "postgresql",
        "config": {"host": server.host, "port": server.port, "database_name": "postgres", "username": server.username},
        "credentials": {"password": server.password},
    }
    _make_table(values["HEADGATE_POSTGRES"])
    ids = {kind: _system(session, kind, database) for kind in ("source", "destination")}
    session.api("POST", "/destinations/test-connection", database)
    session.api("POST", "/destinations/test-connection", {**database, "credentials": {"password": "wrong"}})
    _connection(session, database)
    _discover(session, ids["source"])
    return {**ids, **_clusters(session, values)}


def _make_table(url: str) -> None:
    import psycopg

    with psycopg.connect(url, connect_timeout=10) as connection:
        connection.execute("CREATE TABLE IF NOT EXISTS orders (id bigint PRIMARY KEY, customer text, total numeric)")


def _system(session: Session, kind: str, database: dict[str, Any]) -> str:
    """A source, a destination or a connection, made and changed; returns its id."""
    name, unchanged = {"name": f"a {kind}"}, {**database, "credentials": {}}
    made = session.api("POST", f"/{kind}s", {"description": "x", **name, **database})
    path = f"/{kind}s/{made['id']}"
    session.api("POST", f"/{kind}s", {"name": f"A  {kind}", **database})
    session.api("GET", path)
    session.api("PUT", path, {**name, **unchanged})
    session.api("PUT", path, {**name, **unchanged, "config": {**database["config"], "host": "localhost"}})
    session.api("PUT", path, {**name, **database}, **{"If-Match": '"1"'})
    session.api("POST", f"{path}/test")
    session.api("GET", f"/{kind}s")
    return str(made["id"])


def _connection(session: Session, database: dict[str, Any]) -> None:
    """A connection that a source uses for a while."""
    connection, own = _system(session, "connection", database), {"name": "a user", **database}
    path, uses = f"/connections/{connection}", {"name": "a user", "connection_id": connection}
    user = session.api("POST", "/sources", uses)["id"]
    session.api("POST", "/destinations", {**own, "connection_id": connection})
    session.api("POST", "/connections/test", {"connection_id": connection})
    session.api("GET", "/connections?capability=SOURCE")
    session.api("PUT", path, {"name": "a connection", **database})
    session.api("DELETE", path)
    session.api("PUT", f"/sources/{user}", {**own, "credentials": {}})
    session.api("PUT", f"/sources/{user}", own)
    session.api("DELETE", f"/sources/{user}")
    session.api("DELETE", path)


def _discover(session: Session, source: str) -> None:
    for verb in ("discover", "health"):
        job = session.api("POST", f"/sources/{source}/{verb}")
        session.wait_for_job(job["id"])
        session.api("GET", f"/jobs/{job['id']}")
    session.api("GET", f"/sources/{source}/tables")
    session.api("GET", f"/data/schemas?source_id={source}&table=orders")
    session.api("GET", f"/sources/{source}/tables?search=or&cdc_ready=true&min_size=1")
    session.api("GET", f"/sources/{source}/cdc-readiness")


def _clusters(session: Session, values: dict[str, str]) -> dict[str, str]:
    """A stream cluster and a Connect cluster; their ids."""
    ids = {}
    stream = {"name": "brokers", "bootstrap_servers": values["HEADGATE_KAFKA"]}
    ids["stream"] = session.api("POST", "/stream/clusters", stream)["id"]
    workers = {"name": "workers", "base_url": values["HEADGATE_CONNECT"], "stream_cluster_id": ids["stream"]}
    ids["connect"] = session.api("POST", "/connect/clusters", workers)["id"]
    for kind, body in (("stream", stream), ("connect", workers)):
        session.api("POST", f"/{kind}/clusters", body)
        session.api("GET", f"/{kind}/clusters/{ids[kind]}")
        session.api("PUT", f"/{kind}/clusters/{ids[kind]}", body)
        session.api("GET", f"/{kind}/clusters")
    session.api("GET", f"/connect/clusters/{ids['connect']}/plugins")
    session.api("GET", f"/connect/connectors?cluster_id={ids['connect']}")
    session.api("GET", f"/connect/connectors/nobody/status?cluster_id={ids['connect']}")
    session.api("GET", f"/stream/consumer-groups?cluster_id={ids['stream']}")
    session.api("POST", f"/connect/clusters/{ids['connect']}/confirm-deletions", {"count": 1})
    session.api("POST", f"/connect/clusters/{ids['connect']}/confirm-creations", {"count": 1})
    return ids


def _pipelines(session: Session, ids: dict[str, str]) -> None:
    body = {
        "name": "a pipeline",
        "source_id": ids["source"],
        "stream_cluster_id": ids["stream"],
        "connect_cluster_id": ids["connect"],
        "topic_prefix": "answers",
        "tables": [{"schema_name": "public", "table_name": "orders"}],
    }
    session.api("POST", "/pipelines/preview", body)
    session.api("POST", "/pipelines/preview", {**body, "properties": {"database.password": "x"}})
    session.api("POST", "/pipelines/preview", {**body, "options": {"poll_interval_ms": 1, "slot_name": "Not A Slot"}})
    session.api("POST", "/pipelines/preview", {**body, "tables": [{"schema_name": "public", "table_name": "missing"}]})
    made = session.api("POST", "/pipelines", body)
    session.api("POST", "/pipelines", {**body, "name": "another"})
    pipeline = f"/pipelines/{made['id']}"
    session.api("POST", f"{pipeline}/pause")
    session.api("POST", f"{pipeline}/deploy")
    for verb in ("status", "destinations"):
        session.api("GET", f"{pipeline}/{verb}")
    for verb in ("deploy", "pause", "resume", "restart", "restart-task?task=0", "restart-task?task=9"):
        session.api("POST", f"{pipeline}/{verb}")
    session.api("DELETE", f"/sources/{ids['source']}")
    delivery = {"name": "a delivery", "pipeline_id": made["id"]}
    mappings = [{"topic": "answers.public.orders", "table_name": "orders_copy"}]
    destination = f"/destinations/{ids['destination']}"
    for change in ({}, {"write_mode": "insert", "delete_enabled": True}, {"mappings": [{"topic": "other.x.y"}]}):
        session.api("POST", f"{destination}/preview", {**delivery, "mappings": mappings, **change})
    deployed = session.api("POST", f"{destination}/deploy", {**delivery, "mappings": mappings})
    if "id" in deployed:
        _delivery(session, destination, f"/deliveries/{deployed['id']}", mappings)
    for path in (f"{pipeline}?forget=true", f"{pipeline}?drop_slot=maybe", f"{pipeline}?drop_slot=true"):
        session.api("DELETE", path)
    for path in (destination, f"/sources/{ids['source']}", f"/stream/clusters/{ids['stream']}"):
        session.api("DELETE", path)
    session.api("DELETE", f"/connect/clusters/{ids['connect']}")


def _delivery(session: Session, destination: str, delivery: str, mappings: list[dict[str, str]]) -> None:
    for path in (delivery, f"{delivery}/status", "/deliveries", f"{destination}/status", f"{destination}/mappings"):
        session.api("GET", path)
    session.api("PUT", f"{delivery}/mappings", {"mappings": [{**mappings[0], "table_name": "orders_again"}]})
    for verb in ("pause", "resume", "restart", "restart-task?task=0"):
        session.api("POST", f"{delivery}/{verb}")
    for verb in ("pause", "resume"):
        session.api("POST", f"{destination}/{verb}")
    session.api("DELETE", destination)
    session.api("DELETE", delivery)


def _alerts(session: Session) -> None:
    channel = {"name": "hook", "provider": "webhook", "config": {"url": "https://example.com/hook"}}
    made = session.api("POST", "/notification-channels", channel)
    for url in ("http://example.com", "https://127.0.0.1/x", "https://x.internal/"):
        session.api("POST", "/notification-channels", {**channel, "name": url, "config": {"url": url}})
    for provider in ("chat-webhook", "bot-chat", "mail"):
        session.api("POST", "/notification-channels", {**channel, "provider": provider})
    rule = {"name": "a rule", "severities": ["critical"], "channel_ids": [made["id"]]}
    stored = session.api("POST", "/alert-rules", rule)
    session.api("POST", "/alert-rules", {**rule, "name": "other", "event_types": ["NOTHING"], "cooldown_seconds": -1})
    session.api("PUT", f"/alert-rules/{stored['id']}", {**rule, "enabled": False})
    session.api("GET", "/alert-rules")
    session.api("GET", "/notification-channels")
    session.api("DELETE", f"/notification-channels/{made['id']}")
    session.api("DELETE", f"/alert-rules/{stored['id']}")
    session.api("DELETE", f"/notification-channels/{made['id']}")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
