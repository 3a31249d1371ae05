"""Progress by Connect cluster: in a fixed number of rows, never overwritten by an older measurement."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import pytest
from botocore.exceptions import EndpointConnectionError

from chalicelib.domain.monitoring.progress import Progress, ProgressLook
from chalicelib.domain.monitoring.source_state import Finding, FindingCode
from chalicelib.domain.names import ConnectorKind, connector_name
from chalicelib.errors import StoreUnavailable
from chalicelib.kit.ids import new_id
from chalicelib.stores.documents import find_together
from chalicelib.stores.monitoring.progress import PARTS, ProgressPart, ProgressRow, ProgressStore
from tests.support.call_interceptor import CallInterceptor, InterceptedCall, Point
from tests.support.tables import Tables

NOW = datetime(2026, 1, 31, 12, tzinfo=UTC)
LATER = NOW + timedelta(seconds=30)
FULL = Progress(
    measured_at=NOW,
    moved_at=NOW,
    throughput=1.5,
    lag=7,
    findings=(Finding(code=FindingCode.STALLED, message="It stands still.", certain=True, since=NOW),),
    basis=2**32 - 1,
    position=10**12,
    records=3,
    end=4,
    quiet_since=NOW,
    looks=2,
)


def plain(at: datetime = NOW) -> Progress:
    return Progress(measured_at=at, lag=1)


def test_what_was_measured_is_read_again(tables: Tables) -> None:
    store = ProgressStore()
    store.write("k", {"a": FULL, "b": plain()}, ProgressLook(at=NOW, throughput=2.5, lag=2**40, left_out=3))
    look = find_together((store, ("k", None)))[0].look
    assert look == ProgressLook(at=NOW, throughput=2.5, lag=2**40, left_out=3)
    assert store.read("k") == {"a": FULL, "b": plain()}
    assert store.read("other") == {}


def test_a_connector_is_read_in_the_call_that_reads_other_things(tables: Tables, interceptor: CallInterceptor) -> None:
    store = ProgressStore()
    store.write("k", {"a": FULL}, ProgressLook(at=NOW))
    interceptor.watch()
    found, look, nothing = find_together((store, ("k", "a")), (store, ("k", None)), (store, ("other", "a")))
    assert [point.operation for point in interceptor.unwatch()] == ["BatchGetItem"]
    assert (found.measured["a"], look.look, nothing) == (FULL, ProgressLook(at=NOW), ProgressPart())


def test_only_rows_with_connectors_are_written(tables: Tables, interceptor: CallInterceptor) -> None:
    interceptor.watch()
    ProgressStore().write("k", {"a": plain()}, ProgressLook(at=NOW))
    assert [point.operation for point in interceptor.unwatch()] == ["PutItem"] * 2


def test_an_older_measurement_overwrites_nothing(tables: Tables) -> None:
    store = ProgressStore()
    store.write("k", {"a": plain(LATER)}, ProgressLook(at=LATER))
    store.write("k", {"a": plain()}, ProgressLook(at=NOW))
    store.write_failure("k", "The brokers do not answer.", NOW)
    assert store.read("k") == {"a": plain(LATER)}
    assert find_together((store, ("k", None)))[0].look == ProgressLook(at=LATER)


def test_a_connector_that_is_not_measured_any_more_disappears(tables: Tables) -> None:
    store = ProgressStore()
    names = [f"c{number}" for number in range(50)]
    store.write("k", dict.fromkeys(names, plain()), ProgressLook(at=NOW))
    store.write("k", {"c1": plain(LATER)}, ProgressLook(at=LATER), former=names)
    assert store.read("k") == {"c1": plain(LATER)}


def test_a_failure_leaves_what_was_measured(tables: Tables) -> None:
    store = ProgressStore()
    store.write("k", {"a": plain()}, ProgressLook(at=NOW))
    store.write_failure("k", "The brokers do not answer.", LATER)
    assert store.read("k") == {"a": plain()}
    look = find_together((store, ("k", None)))[0].look
    assert look == ProgressLook(at=LATER, failure="The brokers do not answer.")


def test_ten_thousand_connectors_fit_into_their_rows(tables: Tables) -> None:
    names = [connector_name(ConnectorKind.SINK, new_id()) for _ in range(10_000)]
    store = ProgressStore()
    store.write("k", dict.fromkeys(names, FULL), ProgressLook(at=NOW))
    rows = [row for row in ProgressRow.query("k") if row.body]
    assert len(rows) == PARTS
    assert max(len(row.body) for row in rows) < 200_000
    assert store.read("k").keys() == set(names)


def test_rows_expire_a_week_after_the_last_measurement(tables: Tables) -> None:
    ProgressStore().write("k", {"a": plain()}, ProgressLook(at=NOW))
    assert {row.expires_at for row in ProgressRow.query("k")} == {NOW + timedelta(days=7)}


@pytest.mark.parametrize(
    ("operation", "call"),
    [
        ("PutItem", lambda: ProgressStore().write("k", {"a": plain()}, ProgressLook(at=NOW))),
        ("PutItem", lambda: ProgressStore().write_failure("k", "The brokers do not answer.", NOW)),
        ("BatchGetItem", lambda: ProgressStore().read("k")),
    ],
)
def test_a_store_that_does_not_answer_is_unavailable(
    tables: Tables, interceptor: CallInterceptor, operation: str, call: Callable[[], object]
) -> None:
    def fail(point: Point, _: InterceptedCall) -> object:
        assert point.operation == operation
        raise EndpointConnectionError(endpoint_url="the store")

    interceptor.watch(fail)
    with pytest.raises(StoreUnavailable):
        call()
