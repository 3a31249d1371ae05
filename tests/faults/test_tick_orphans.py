"""Connectors that nothing needs: those of others cost nothing, and many of ours wait for a person."""

from collections.abc import Sequence

import pytest

from chalicelib.domain.cluster import ChangeKind, PendingChanges
from chalicelib.domain.connectors.orphans import JUDGED_PER_TICK
from chalicelib.domain.names import ConnectorKind, connector_name
from chalicelib.domain.observation import ObservedState
from chalicelib.errors import Conflict, NotFound
from chalicelib.kit.ids import new_id
from tests.faults.inspection import (
    audited,
    connector_writes,
    create_orphan,
    creations,
    deployed_copies,
    observation_of,
    running_pipeline,
)
from tests.faults.invariants import violations
from tests.support.apps.call_interceptor import Side
from tests.support.apps.in_process_app import InProcessApp

FOREIGN = 1_000


def preload_foreign(app: InProcessApp, count: int = FOREIGN) -> Sequence[str]:
    """Connectors of another installation on the same workers."""
    names = [connector_name(ConnectorKind.SOURCE, new_id()) for _ in range(count)]
    app.connect.preload(names)
    return names


def calls_of_a_tick(app: InProcessApp) -> list[str]:
    """The calls that one tick makes, by side and operation."""
    app.interceptor.watch()
    app.tick()
    return [f"{point.side} {point.operation}" for point in app.interceptor.unwatch()]


def pending(app: InProcessApp) -> PendingChanges | None:
    return app.services.connect_clusters.get(app.cluster.id).pending_deletions


def confirm(app: InProcessApp, count: int) -> PendingChanges | None:
    return app.services.connect_clusters.confirm(
        app.context(), app.cluster.id, ChangeKind.DELETIONS, count
    ).pending_deletions


def orphans_of_a_cluster(app: InProcessApp, orphans: int = 5, pipelines: int = 20) -> list[str]:
    """So many orphans and pipelines, seen often enough to be stopped."""
    deployed_copies(app, pipelines)
    names = [create_orphan(app) for _ in range(orphans)]
    app.connect.calls.clear()
    app.ticks(10, 10, 10, 100, 10)
    return names


# others


def test_a_thousand_connectors_of_another_installation_cost_a_quiet_tick_nothing(app: InProcessApp) -> None:
    running_pipeline(app)
    alone = calls_of_a_tick(app)
    preload_foreign(app)
    app.tick()
    app.tick(after=90)
    app.tick(times=2 * FOREIGN // JUDGED_PER_TICK)
    assert calls_of_a_tick(app) == alone
    app.restart()
    app.tick()
    assert calls_of_a_tick(app) == alone
    assert connector_writes(app) == []


def test_a_tick_that_finds_out_whose_connectors_are_needs_one_call_for_each_of_a_bounded_number(
    app: InProcessApp,
) -> None:
    running_pipeline(app)
    preload_foreign(app)
    app.tick()
    app.clock.advance(80)
    calls = calls_of_a_tick(app)
    assert len([one for one in calls if one.startswith(str(Side.CONNECT))]) == 1
    assert JUDGED_PER_TICK <= len(calls) <= JUDGED_PER_TICK + 10


@pytest.mark.parametrize("seconds", [0, 85], ids=["while they are new", "while they are looked up"])
def test_a_thousand_connectors_of_another_installation_do_not_delay_a_repair(app: InProcessApp, seconds: float) -> None:
    pipeline = running_pipeline(app)
    preload_foreign(app)
    app.tick()
    app.clock.advance(seconds)
    app.connect.drop(pipeline.connector_name)
    app.tick(times=3)
    assert creations(app) == 1
    assert observation_of(app, pipeline).state is ObservedState.RUNNING


# what is desired was read while its index was behind


def test_a_connector_that_the_index_did_not_list_in_time_is_found_and_watched(
    app: InProcessApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    pipeline = app.deployed_pipeline()
    with monkeypatch.context() as patched:
        patched.setattr(type(app.services.stores.resources.pipelines), "columns_in", lambda *_: iter(()))
        app.tick(times=3)
    app.ticks(90, 10)
    app.connect.drop(pipeline.connector_name)
    app.tick()
    app.tick()
    assert violations(app) == []


def test_what_is_desired_is_read_again_whenever_configs_are_compared(
    app: InProcessApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    pipeline = app.deployed_pipeline()
    app.connect.drop(pipeline.connector_name)
    with monkeypatch.context() as patched:
        patched.setattr(type(app.services.stores.resources.pipelines), "columns_in", lambda *_: iter(()))
        app.tick(times=3)
    app.tick(after=601)
    app.tick()
    app.tick()
    assert violations(app) == []


# many deletions


def test_more_than_a_tenth_of_a_cluster_is_not_touched_before_an_admin_confirms(app: InProcessApp) -> None:
    names = orphans_of_a_cluster(app)
    app.ticks(600, 10, 3600, 86_400)
    assert connector_writes(app) == []
    waiting = pending(app)
    assert (waiting.count, waiting.names) == (5, tuple(sorted(names)))
    assert waiting.since < app.clock.now
    assert confirm(app, 5) is None
    (record,) = audited(app, app.cluster.id, "connect_cluster.confirm_deletions")
    assert (record.after["count"], record.after["names"]) == (5, sorted(names))
    assert record.actor_email == "admin@example.com"
    app.tick()
    assert len(set(names) & set(app.connect.names())) == 4  # 2 % of a cluster, or one, in a tick
    app.tick(times=5)
    assert not set(names) & set(app.connect.names())
    assert pending(app) is None


@pytest.mark.parametrize("count", [4, 6])
def test_only_the_number_that_is_shown_can_be_confirmed(app: InProcessApp, count: int) -> None:
    orphans_of_a_cluster(app)
    with pytest.raises(Conflict) as refused:
        confirm(app, count)
    assert refused.value.code == "STATE_CONFLICT"
    assert "5 deletions wait" in refused.value.message
    assert pending(app)


def test_where_nothing_waits_nothing_can_be_confirmed(app: InProcessApp) -> None:
    running_pipeline(app)
    with pytest.raises(Conflict):
        confirm(app, 1)
    with pytest.raises(NotFound):
        app.services.connect_clusters.confirm(app.context(), new_id(), ChangeKind.DELETIONS, 1)


def test_a_confirmation_is_for_what_was_shown(app: InProcessApp) -> None:
    shown = orphans_of_a_cluster(app)
    confirm(app, 5)
    later = [create_orphan(app) for _ in range(8)]
    app.ticks(10, 100, 10, 600, *[10] * 10)
    assert not set(shown) & set(app.connect.names())
    assert set(later) <= set(app.connect.names())
    waiting = pending(app)
    assert waiting.count == 8


def test_a_confirmation_ends_after_an_hour(app: InProcessApp) -> None:
    names = orphans_of_a_cluster(app)
    confirm(app, 5)
    app.ticks(3601, 10, 10)
    assert set(names) <= set(app.connect.names())
    assert pending(app)
