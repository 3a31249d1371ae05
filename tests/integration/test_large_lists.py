"""Lists of the largest entries that can be stored: every body stays within bounds, and cursors lead to every entry."""

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict
from types import ModuleType
from typing import Any

import pytest

from chalicelib.api.contract.alert_rules import AlertRuleBody
from chalicelib.api.contract.maintenance import MaintenanceBody
from chalicelib.api.routes import (
    access,
    alerts,
    clusters,
    connections,
    connectors,
    consumer_groups,
    deliveries,
    destinations,
    export,
    maintenance,
    operations,
    pipelines,
    schemas,
    sources,
    topics,
    users,
)
from chalicelib.clients.connect.parse import MAX_TASKS
from chalicelib.clients.kafka import client as kafka_client
from chalicelib.clients.kafka.groups import MAX_PARTITIONS_OF_GROUP
from chalicelib.domain.access import Role
from chalicelib.domain.accounts.api_token import ApiToken
from chalicelib.domain.accounts.user import MAX_USER_AGENT, Session, User, UserStatus
from chalicelib.domain.alerts.channel import Channel, ChannelProvider
from chalicelib.domain.alerts.kinds import AlertSeverity
from chalicelib.domain.alerts.maintenance import MaintenanceWindow
from chalicelib.domain.alerts.rule import MAX_CHANNELS, MAX_CHANNELS_OF_RULE, MAX_RULES, AlertRule
from chalicelib.domain.event_kind import EventKind
from chalicelib.domain.monitoring.condition import Condition, ConditionCode
from chalicelib.domain.monitoring.report import MonitorReport
from chalicelib.domain.pipeline import prefix_claim
from chalicelib.kit.clock import Deadline
from chalicelib.kit.ids import id_from
from chalicelib.kit.pages import PAGE_BYTES
from chalicelib.stores.transaction import Transaction
from infra.local.doubles.connect_model import Part
from tests.support.apps.edge import ADMIN, make_edge, through_lambda_event
from tests.support.apps.fakes import FakeDatabase
from tests.support.apps.in_process_app import START_TIME, InProcessApp, app, app_of_the_module
from tests.support.apps.largest_entries import (
    ORIGIN,
    QUOTES,
    SECRETS,
    WIDE,
    large_table,
    largest_pipeline,
    numbered,
    put,
    stored_clusters,
    stored_connections,
    stored_deliveries,
    stored_pipelines,
    stored_records,
    stored_systems,
)
from tests.support.entities import make_pipeline, make_user, store_new

__all__ = ["app", "app_of_the_module"]

FUNCTION_ANSWER = 6 * 1024 * 1024
MODULES: tuple[ModuleType, ...] = (
    *(access, alerts, clusters, connections, connectors, consumer_groups, deliveries, destinations, export),
    *(maintenance, operations, pipelines, schemas, sources, topics, users),
)
ROUTERS = (*(module.routes for module in MODULES), clusters.connect_routes)
Get = Callable[[str], tuple[list[Any], str | None]]


@pytest.fixture
def get(app: InProcessApp, monkeypatch: pytest.MonkeyPatch) -> Get:
    """GET of one page: its entries and the next cursor. The body and the function's answer are within bounds."""
    for module in MODULES:
        monkeypatch.setattr(module, "services", lambda: app.services)
    edge = make_edge(*ROUTERS)
    send = through_lambda_event(edge.app)

    def get(target: str) -> tuple[Any, str | None]:
        response = send("GET", f"/api/v1{target}", ADMIN, b"")
        assert response.status == 200, (target, response.body[:500])
        assert len(response.body.encode()) <= PAGE_BYTES, target
        assert len(json.dumps(response.body, ensure_ascii=False).encode()) < FUNCTION_ANSWER, target
        return json.loads(response.body), response.headers.get("x-next-cursor")

    return get


def walk(get: Get, path: str, cursor: str | None = None) -> Iterator[list[Any]]:
    """The pages of a list, from a cursor on."""
    while True:
        page, cursor = get(path + (f"{'&' if '?' in path else '?'}cursor={cursor}" if cursor else ""))
        yield page
        if cursor is None:
            return


def assert_each_once(get: Get, path: str, expected: Iterable[str], *, pages: int, field: str = "id") -> None:
    """The pages of the list show each of these entries once; there are at least so many pages."""
    seen = list(walk(get, path))
    assert sorted(entry[field] for page in seen for entry in page) == sorted(expected)
    assert len(seen) >= pages


@pytest.mark.thorough
@pytest.mark.parametrize("letter", [WIDE, QUOTES], ids=["wide", "quotes"])
def test_pipelines_and_deliveries_of_500_tables_are_paged_by_size(app: InProcessApp, get: Get, letter: str) -> None:
    stored = stored_pipelines(app, letter, 24)
    destination, delivered = stored_deliveries(app, letter, 24)
    assert_each_once(get, "/pipelines", stored, pages=2)
    assert_each_once(get, "/deliveries", delivered, pages=2)
    exported = [entry["id"] for page in walk(get, "/export") for entry in (*page["pipelines"], *page["deliveries"])]
    assert sorted(exported) == sorted([*stored, *delivered])
    assert_each_once(get, f"/pipelines/{stored[0]}/destinations", delivered, pages=2)
    assert_each_once(get, f"/destinations/{destination}/mappings", delivered, pages=2, field="delivery_id")
    for kind, ids in (("pipelines", stored), ("deliveries", delivered)):
        exported = [entry["id"] for page in walk(get, "/export") for entry in page[kind]]
        assert sorted(exported) == sorted(ids)
    shown, cursor = get(f"/pipelines/{stored[0]}")
    rest = walk(get, f"/pipelines/{stored[0]}/destinations", cursor)
    assert cursor
    assert sorted(one["id"] for page in (shown["destinations"], *rest) for one in page) == sorted(delivered)


@pytest.mark.thorough
def test_registered_systems_and_clusters_are_paged_by_size(app: InProcessApp, get: Get) -> None:
    resources = app.services.stores.resources
    assert_each_once(get, "/sources", stored_systems(resources.sources, 500), pages=2)
    assert_each_once(get, "/destinations", stored_systems(resources.destinations, 500), pages=2)
    connections = stored_connections(app, 300)
    assert_each_once(get, "/connections", connections, pages=2)
    assert_each_once(get, "/connections?capability=DESTINATION", connections, pages=2)
    streams, connects = stored_clusters(app, 100)
    assert_each_once(get, "/stream/clusters", streams, pages=1)
    assert_each_once(get, "/connect/clusters", connects, pages=1)


def test_tables_of_1600_columns_are_paged_by_size(app: InProcessApp, get: Get, monkeypatch: pytest.MonkeyPatch) -> None:
    tables = tuple(large_table(number) for number in range(40))
    monkeypatch.setattr(FakeDatabase, "raw_tables", lambda _: tables)
    source = app.source().id
    names = [table.name.table_name for table in tables]
    assert_each_once(get, f"/sources/{source}/tables", names, pages=2, field="table_name")
    assert_each_once(get, f"/data/schemas?source_id={source}", names, pages=2, field="table_name")


def test_topics_of_the_longest_names_that_many_pipelines_use_are_paged_by_size(app: InProcessApp, get: Get) -> None:
    """Each part of a topic prefix is the whole prefix of another pipeline."""
    prefix = ".".join("p" * 60)
    owners = [prefix[:end] for end in range(1, len(prefix) + 1, 2)]
    source, stream, connect = app.source(), app.stream, app.cluster
    ids = {"source_id": source.id, "stream_cluster_id": stream.id, "connect_cluster_id": connect.id}
    capture = largest_pipeline(WIDE).to_input().capture
    entities = (make_pipeline(**one, **ids, name=WIDE * 200, capture=capture) for one in numbered("pipeline", 60))
    holders = put(app.services.stores.resources.pipelines, entities)
    for own, holder in zip(owners, holders, strict=True):
        with Transaction() as transaction:
            app.services.stores.resources.claims.take(transaction, prefix_claim(stream.id, own), holder, label="any")
    names = [f"{prefix}.{number:0120}" for number in range(200)]
    for name in names:
        app.kafka.state.create_topic(name)
    assert_each_once(get, f"/stream/topics?cluster_id={stream.id}", names, pages=2, field="name")


def test_audit_records_are_paged_by_size_with_and_without_filters(app: InProcessApp, get: Get) -> None:
    stored = stored_records(app, 24)
    for filters in ("", f"?resource_id={ORIGIN}", f"?resource_id={ORIGIN}&include_related=true", "?meaningful=true"):
        assert_each_once(get, f"/audit{filters}", stored, pages=2)


def test_incidents_are_paged_by_size_with_and_without_filters(app: InProcessApp, get: Get) -> None:
    conditions = tuple(
        Condition(
            code=ConditionCode.STALLED,
            resource_type="pipeline",
            resource_id=id_from("incident", str(number)),
            message=WIDE * 5_000,
        )
        for number in range(400)
    )
    report = MonitorReport(origin="connect_cluster/k", at=app.clock(), conditions=conditions)
    assert app.services.incidents.record(report, Deadline.after(60)).complete
    stored = [one.id for one in app.services.stores.monitoring.incidents.all()]
    for filters in ("", "?active=true", "?status=OPEN"):
        assert_each_once(get, f"/operations/errors{filters}", stored, pages=2)


def test_maintenance_windows_are_paged_by_size(app: InProcessApp, get: Get) -> None:
    ids = [id_from("other", str(number)) for number in range(100)]
    kinds = ("source_ids", "destination_ids", "pipeline_ids", "connect_cluster_ids")
    scope = {"labels": {f"{number:063}": WIDE * 63 for number in range(16)}, **dict.fromkeys(kinds, ids)}
    times = {"from": "2026-01-31T12:00:00Z", "until": "2026-02-01T12:00:00Z"}
    body = {"name": WIDE * 200, "reason": WIDE * 300, "scope": scope, **times}
    largest = MaintenanceBody.model_validate(body).to_values()
    windows = (
        MaintenanceWindow.of(largest, one["id"], "ann@example.com", one["created_at"])
        for one in numbered("window", 250)
    )
    assert_each_once(get, "/maintenance", put(app.services.stores.alerts.maintenance, windows), pages=2)


def test_the_largest_alert_rules_and_channels_are_one_page(app: InProcessApp, get: Get) -> None:
    ids = [id_from("other", str(number)) for number in range(100)]
    texts = {"name": WIDE * 200, "description": WIDE * 1000, "event_types": list(EventKind)}
    selected = {"source_ids": ids, "pipeline_ids": ids, "channel_ids": ids[:MAX_CHANNELS_OF_RULE]}
    largest = AlertRuleBody.model_validate({**texts, **selected, "severities": list(AlertSeverity)}).to_values()
    rules = (AlertRule(**one, **asdict(largest)) for one in numbered("rule", MAX_RULES))
    assert_each_once(get, "/alert-rules", put(app.services.stores.alerts.rules, rules), pages=1)
    channels = (
        Channel(**one, name=WIDE * 200, provider=ChannelProvider.WEBHOOK, credentials=SECRETS, mask="m" * 300)
        for one in numbered("channel", MAX_CHANNELS)
    )
    assert_each_once(get, "/notification-channels", put(app.services.stores.alerts.channels, channels), pages=1)


def test_the_largest_users_and_tokens_are_one_page_of_five_hundred_each(app: InProcessApp, get: Get) -> None:
    users = (
        User(**one, email=f"{WIDE * 240}{number:03}@{WIDE * 8}", role=Role.VIEWER, status=UserStatus.INVITED)
        for number, one in enumerate(numbered("user", 600))
    )
    assert_each_once(get, "/users", put(app.services.stores.accounts.users, users), pages=2)
    tokens = (
        ApiToken(**one, user_id=ORIGIN, name=WIDE * 200, role=Role.VIEWER, token_hash="0" * 64, expires_at=START_TIME)
        for one in numbered("token", 600)
    )
    assert_each_once(get, "/auth/tokens", put(app.services.stores.accounts.api_tokens, tokens), pages=2)


def test_the_most_sessions_are_pages_of_five_hundred(app: InProcessApp, get: Get) -> None:
    stores, store = app.services.stores.accounts, app.services.stores.accounts.sessions
    user = make_user(id="u1")
    store_new(stores.users, user)
    for number in range(600):
        session = Session(
            id=f"{number:064}",
            user_id=user.id,
            address="2001:db8:ffff:ffff:ffff:ffff:ffff:ffff",
            user_agent=WIDE * MAX_USER_AGENT,
            created_at=app.clock.now,
            last_seen_at=app.clock.now,
        )
        with Transaction() as transaction:
            store.put_new(transaction, session)
    listed = [session.public_id for session in store.all_of(user, app.clock.now)]
    assert_each_once(get, "/auth/sessions", listed, pages=2)


def test_connectors_with_the_most_tasks_are_paged_by_size(app: InProcessApp, get: Get) -> None:
    names = [f"{WIDE}{number:03}" for number in range(40)]
    app.connect.preload(names)
    for name in names:
        # One of more tasks is shown as one that cannot be read.
        app.connect.connector(name).tasks = {number: Part(state="FAILED", trace="any") for number in range(MAX_TASKS)}
    assert_each_once(get, f"/connect/connectors?cluster_id={app.cluster.id}", names, pages=2, field="name")


def test_groups_of_the_most_partitions_are_paged_by_size(
    app: InProcessApp, get: Get, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The double writes and the client reads 18,000 partitions, which takes a busy machine longer than brokers may take.
    monkeypatch.setattr(kafka_client, "ANSWER_SECONDS", 18.0)
    names = ["almost", "as many", "more"]
    for number in range(MAX_PARTITIONS_OF_GROUP):
        for name in names[:2]:
            app.kafka.state.commit(name, f"{number:0249}", 0, 2**62)
        app.kafka.state.commit("more", f"{number}", 0, 0)
    app.kafka.state.commit("more", "another", 0, 0)
    path = f"/stream/consumer-groups?cluster_id={app.stream.id}"
    assert_each_once(get, path, names, pages=2, field="group_id")
    (shown,) = [group for page in walk(get, path) for group in page if group["group_id"] == "more"]
    assert [shown[field] for field in ("topics", "offsets", "total_lag")] == [None, None, None]


def test_every_list_has_its_largest_entries_here() -> None:
    lists = {route.path for router in ROUTERS for route in router.routes if route.response.may_continue}
    assert lists == {
        "/pipelines", "/deliveries", "/pipelines/{uuid}/destinations", "/destinations/{uuid}/mappings",
        "/pipelines/{uuid}", "/destinations/{uuid}/status", "/sources", "/destinations", "/connections",
        "/stream/clusters", "/connect/clusters", "/sources/{uuid}/tables", "/data/schemas", "/audit",
        "/connect/clusters/{uuid}/plugins", "/connect/connectors", "/stream/consumer-groups", "/stream/topics",
        "/operations/errors", "/alert-rules", "/maintenance", "/notification-channels", "/users",
        "/auth/tokens", "/auth/sessions", "/export",
        "/audit/verify",  # one object, whose size does not depend on what is stored
    }  # fmt: skip
