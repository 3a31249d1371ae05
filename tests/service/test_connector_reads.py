"""Connectors of all owners: whose they are, what is said of those that fail, and what Connect is asked for it."""

from collections.abc import Mapping
from dataclasses import replace

import pytest

from chalicelib.domain.connector import ClusterConnector
from chalicelib.domain.connector_config import INSTALLATION_KEY
from chalicelib.domain.event_kind import EventKind
from chalicelib.domain.names import ConnectorKind, connector_name, owner_marker
from chalicelib.errors import Invalid, NotFound, Unavailable
from chalicelib.kit.ids import id_from
from chalicelib.services.connector_reads import MAX_CLUSTERS
from infra.local.doubles.connect_plugins import JDBC_SINK, POSTGRES_SOURCE
from tests.support.apps.fakes import FakeConnect
from tests.support.apps.in_process_app import InProcessApp
from tests.support.entities import store_new

MANY = 1_000


def listed(app: InProcessApp, cluster_id: str | None = None) -> Mapping[str, ClusterConnector]:
    answer = app.services.connector_reads.list(app.context(), cluster_id, limit=500, after=None, fresh=True)
    return {shown.connector.name: shown for shown in answer.value.items}


def test_connectors_of_headgate_have_their_resource_and_others_have_none(app: InProcessApp) -> None:
    pipeline = app.deployed_pipeline()
    delivery = app.services.deliveries.deploy(app.context(), app.destination().id, app.delivery_input(pipeline))
    app.connect.preload(["theirs"])
    app.connect.settle()
    found = listed(app, app.cluster.id)
    assert {name: (one.managed, one.resource and (one.resource.type, one.resource.id, one.resource.name))
            for name, one in found.items()} == {
        pipeline.connector_name: (True, ("pipeline", pipeline.id, pipeline.name)),
        delivery.connector_name: (True, ("delivery", delivery.id, delivery.name)),
        "theirs": (False, None),
    }  # fmt: skip
    sink = found[delivery.connector_name].connector
    assert (sink.type, sink.connector_class) == (ConnectorKind.SINK, JDBC_SINK)


def test_a_connector_with_a_name_like_ours_is_only_ours_with_our_mark(app: InProcessApp) -> None:
    ours, copied, unmarked = (id_from("pipeline", word) for word in ("ours", "copied", "unmarked"))
    installation = app.services.clients.installation.id
    for resource_id, marks in (
        (ours, {INSTALLATION_KEY: installation}),
        (copied, {INSTALLATION_KEY: id_from("installation", "another")}),
    ):
        config = {"headgate.owner": owner_marker(ConnectorKind.SOURCE, resource_id), **marks}
        app.connect.preload([connector_name(ConnectorKind.SOURCE, resource_id)], config=config)
    app.connect.preload([connector_name(ConnectorKind.SOURCE, unmarked)])
    found = listed(app, app.cluster.id)
    names = [connector_name(ConnectorKind.SOURCE, resource_id) for resource_id in (ours, copied, unmarked)]
    # Nothing needs the first one any more.
    assert [(found[name].managed, found[name].resource) for name in names] == [
        (True, None),
        (False, None),
        (False, None),
    ]


def test_a_resource_is_that_of_its_own_cluster(app: InProcessApp) -> None:
    pipeline, other = app.deployed_pipeline(), FakeConnect(broker=app.kafka.state)
    other.start()
    try:
        app.connect.settle()
        with other.showing({pipeline.connector_name: app.connect.connector(pipeline.connector_name)}):
            elsewhere = listed(app, app.register_connect(other.url).id)
    finally:
        other.stop()
    assert elsewhere[pipeline.connector_name].resource is None


def test_a_thousand_connectors_are_one_question_and_pages_by_name(app: InProcessApp) -> None:
    app.connect.preload(f"theirs-{number:04}" for number in range(MANY))
    cluster = app.cluster
    app.connect.calls.clear()
    seen: list[str] = []
    after = None
    while True:
        page = app.services.connector_reads.list(app.context(), cluster.id, limit=300, after=after, fresh=False).value
        seen += [shown.connector.name for shown in page.items]
        after = page.next_key
        if after is None:
            break
    assert seen == sorted(app.connect.names())
    assert [(call.path, call.query) for call in app.connect.calls.calls()] == [
        ("/connectors", "expand=status&expand=info")
    ]


def test_without_a_cluster_all_clusters_are_listed_and_one_that_is_away_is_named(app: InProcessApp) -> None:
    app.connect.preload(["here"])
    other = FakeConnect(broker=app.kafka.state)
    other.start()
    first, second = app.cluster, app.register_connect(other.url)
    try:
        other.preload(["there"])
        assert {name: one.cluster_id for name, one in listed(app).items()} == {"here": first.id, "there": second.id}
        other.refuse()
        with pytest.raises(Unavailable, match="cannot be read now") as refused:
            listed(app)
        assert refused.value.code == "CONNECT_UNAVAILABLE"
        assert refused.value.details["cluster"]["id"] == second.id  # type: ignore[call-overload]
        assert listed(app, first.id).keys() == {"here"}
    finally:
        other.stop()


def test_more_clusters_than_one_request_asks_have_to_be_named(app: InProcessApp) -> None:
    assert listed(app) == {}
    stored = app.cluster
    for number in range(MAX_CLUSTERS):
        copy = replace(stored, id=id_from("cluster", str(number)), name=f"copy {number}")
        store_new(app.services.stores.resources.connects, copy)
    with pytest.raises(Invalid) as refused:
        listed(app)
    assert refused.value.details[0]["location"] == ["query", "cluster_id"]  # type: ignore[index]


@pytest.mark.parametrize(
    ("class_name", "kind", "event_type"),
    [
        (POSTGRES_SOURCE, "source", EventKind.CDC_CONNECTOR_FAILED),
        (JDBC_SINK, "sink", EventKind.DESTINATION_CONNECTOR_FAILED),
    ],
)
def test_a_connector_of_others_has_the_hint_of_its_kind_and_no_trace(
    app: InProcessApp, class_name: str, kind: str, event_type: EventKind
) -> None:
    app.connect.preload(["theirs"], config={"connector.class": class_name})
    app.connect.connector("theirs").kind = kind
    app.connect.show("theirs", "FAILED", task=0, trace="java.lang.IllegalStateException: password=hunter2")
    answer = app.services.connector_reads.status(app.context(), app.cluster.id, "theirs", fresh=True)
    connector = answer.value.connector
    (task,) = connector.status.tasks
    hint = connector.hint(task)
    assert hint is not None
    assert hint.event_type is event_type
    assert "hunter2" not in repr((answer, hint))


def test_a_connector_that_does_not_exist_is_not_found(app: InProcessApp) -> None:
    with pytest.raises(NotFound):
        app.services.connector_reads.status(app.context(), app.cluster.id, "nobody", fresh=True)
