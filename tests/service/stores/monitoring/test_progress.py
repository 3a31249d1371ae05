"""Progress by Connect cluster: in a fixed number of rows, never overwritten by an older measurement."""

import zlib
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import datetime, timedelta

import pytest
from botocore.exceptions import EndpointConnectionError

from chalicelib.domain.monitoring.progress import Progress, ProgressLook, metrics
from chalicelib.domain.monitoring.seconds_behind import MeasuredEnd, WaitingPartition
from chalicelib.domain.monitoring.source_state import Finding, FindingCode
from chalicelib.domain.names import ConnectorKind, connector_name
from chalicelib.errors import StoreUnavailable
from chalicelib.kit.ids import new_id
from chalicelib.stores.documents import batch_find
from chalicelib.stores.monitoring.progress import PARTS, ClusterProgress, ProgressPart, ProgressRow, ProgressStore
from tests.support.apps.call_interceptor import CallInterceptor, Crash, InterceptedCall, Point
from tests.support.apps.tables import Tables
from tests.support.entities import NOW

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
    waiting=tuple(
        WaitingPartition(
            topic="shop.public.orders",
            partition=partition,
            next_offset=1_000,
            ends=tuple(MeasuredEnd(NOW + timedelta(seconds=30 * number), 990 + 20 * number) for number in range(8)),
        )
        for partition in range(4)
    ),
)

FORTY_NAMES = tuple(f"c{number}" for number in range(40))


def plain(at: datetime = NOW) -> Progress:
    return Progress(measured_at=at, lag=1)


def store(at: datetime, *names: str, **connectors: Progress) -> None:
    """Store a measurement that has found `connectors`, and of each of the `names` the same as always."""
    measured = dict.fromkeys(names, plain(at)) | connectors
    ProgressStore().write("k", measured, ProgressLook(at=at), ProgressStore().read("k"))


def stored() -> Mapping[str, Progress]:
    return ProgressStore().read("k").connectors


def look() -> ProgressLook:
    return ProgressStore().looks(["k"])["k"]


def rows_written(interceptor: CallInterceptor, act: Callable[[], None]) -> int:
    interceptor.watch()
    act()
    return [point.operation for point in interceptor.unwatch()].count("PutItem")


def test_what_was_measured_is_read_again(tables: Tables) -> None:
    found = ProgressLook(at=NOW, throughput=2.5, lag=2**40, left_out=3)
    ProgressStore().write("k", {"a": FULL, "b": plain()}, found, ProgressStore().read("k"))
    assert look() == found
    assert stored() == {"a": FULL, "b": plain()}
    assert ProgressStore().read("other").connectors == {}


def test_a_row_without_what_a_former_release_did_not_measure_is_read_as_not_known(tables: Tables) -> None:
    body = b'{"a": {"measured_at": "2026-01-31T12:00:00Z", "throughput": 1.5, "lag": 7, "position": 3}}'
    (progress,) = ProgressPart(row_id="k:0", body=zlib.compress(body), measured_at=NOW).stored.values()
    shown = metrics(progress, ProgressLook(at=NOW), NOW, is_sink=True)
    assert (shown.throughput, shown.lag, shown.seconds_behind) == (1.5, 7, None)


def test_a_connector_is_read_in_the_call_that_reads_other_things(tables: Tables, interceptor: CallInterceptor) -> None:
    store(NOW, a=FULL)
    interceptor.watch()
    progress = ProgressStore()
    found, cluster, nothing = batch_find((progress, ("k", "a")), (progress, ("k", None)), (progress, ("other", "a")))
    assert [point.operation for point in interceptor.unwatch()] == ["BatchGetItem"]
    assert (found.progress("a", cluster), cluster.look, nothing) == (FULL, ProgressLook(at=NOW), ProgressPart())


def test_only_rows_with_connectors_are_written(tables: Tables, interceptor: CallInterceptor) -> None:
    assert rows_written(interceptor, lambda: store(NOW, a=plain())) == 2


def test_a_measurement_that_finds_what_the_one_before_has_found_writes_one_row(
    tables: Tables, interceptor: CallInterceptor
) -> None:
    store(NOW, *FORTY_NAMES)
    assert rows_written(interceptor, lambda: store(LATER, *FORTY_NAMES)) == 1
    assert stored() == dict.fromkeys(FORTY_NAMES, plain(LATER))
    assert look() == ProgressLook(at=LATER)


def test_only_the_row_of_a_connector_that_has_changed_is_written(tables: Tables, interceptor: CallInterceptor) -> None:
    store(NOW, *FORTY_NAMES)
    moved = replace(plain(LATER), lag=0)
    assert rows_written(interceptor, lambda: store(LATER, *FORTY_NAMES, c7=moved)) == 2
    assert stored() == dict.fromkeys(FORTY_NAMES, plain(LATER)) | {"c7": moved}


def test_a_connector_that_could_not_be_measured_keeps_the_time_of_its_numbers(
    tables: Tables, interceptor: CallInterceptor
) -> None:
    """Also when that alone has changed, and when the others in its row are measured again and again."""
    store(NOW, *FORTY_NAMES)
    expected = dict.fromkeys(FORTY_NAMES, plain(LATER)) | {"c7": plain(NOW)}
    assert rows_written(interceptor, lambda: store(LATER, *FORTY_NAMES, c7=plain(NOW))) == 2
    assert stored() == expected
    last = LATER + timedelta(seconds=30)
    assert rows_written(interceptor, lambda: store(last, *FORTY_NAMES, c7=plain(NOW))) == 1
    assert stored() == dict.fromkeys(FORTY_NAMES, plain(last)) | {"c7": plain(NOW)}
    again = last + timedelta(seconds=30)
    store(again, *FORTY_NAMES)
    assert stored() == dict.fromkeys(FORTY_NAMES, plain(again))


def test_a_measurement_that_was_stored_in_part_is_of_the_time_at_which_its_rows_were_written(
    tables: Tables, interceptor: CallInterceptor
) -> None:
    """The process ends before the row of the cluster is written."""

    def end(point: Point, call: InterceptedCall) -> object:
        if point.number == 1:
            raise Crash
        return call()

    store(NOW, a=plain(), b=plain())
    former = ProgressStore().read("k")
    moved = replace(plain(LATER), lag=0)
    interceptor.watch(end)
    with pytest.raises(Crash):
        ProgressStore().write("k", {"a": moved, "b": plain(LATER)}, ProgressLook(at=LATER), former)
    interceptor.unwatch()
    assert stored() == {"a": moved, "b": plain(NOW)}


def test_an_older_measurement_overwrites_nothing(tables: Tables) -> None:
    former = ProgressStore().read("k")
    store(LATER, a=plain(LATER))
    ProgressStore().write("k", {"a": replace(plain(), lag=5)}, ProgressLook(at=NOW), former)
    ProgressStore().write_failure("k", "The brokers do not answer.", NOW)
    assert stored() == {"a": plain(LATER)}
    assert look() == ProgressLook(at=LATER)


def test_a_connector_that_is_not_measured_any_more_disappears(tables: Tables) -> None:
    store(NOW, *FORTY_NAMES)
    store(LATER, "c1")
    assert stored() == {"c1": plain(LATER)}


def test_a_failure_leaves_what_was_measured_and_its_time(tables: Tables) -> None:
    store(NOW, a=plain())
    store(LATER, a=plain(LATER))
    ProgressStore().write_failure("k", "The brokers do not answer.", LATER + timedelta(seconds=30))
    assert stored() == {"a": plain(LATER)}
    assert look() == ProgressLook(at=LATER + timedelta(seconds=30), failure="The brokers do not answer.")


def test_a_cluster_whose_first_measurement_fails_has_a_look_and_no_progress(tables: Tables) -> None:
    ProgressStore().write_failure("k", "The brokers do not answer.", NOW)
    assert look() == ProgressLook(at=NOW, failure="The brokers do not answer.")
    assert stored() == {}


def test_ten_thousand_connectors_fit_into_their_rows(tables: Tables) -> None:
    names = [connector_name(ConnectorKind.SINK, new_id()) for _ in range(10_000)]
    store(NOW, **dict.fromkeys(names, FULL))
    rows = [row for row in ProgressRow.query("k") if row.body]
    assert len(rows) == PARTS
    assert max(len(row.body) for row in rows) < 200_000
    assert stored().keys() == set(names)


def test_rows_expire_a_week_after_the_last_measurement(tables: Tables) -> None:
    store(NOW, a=plain())
    assert {row.expires_at for row in ProgressRow.query("k")} == {NOW + timedelta(days=7)}
    ProgressStore().write_failure("k", "The brokers do not answer.", LATER)
    assert ProgressRow.get("k", "look").expires_at == LATER + timedelta(days=7)


def test_a_row_that_never_changes_does_not_expire(tables: Tables) -> None:
    for hours in range(0, 24 * 8, 6):
        at = NOW + timedelta(hours=hours)
        store(at, a=plain(at))
        assert min(row.expires_at for row in ProgressRow.query("k")) > at + timedelta(days=5)


@pytest.mark.parametrize(
    ("operation", "call"),
    [
        ("PutItem", lambda: ProgressStore().write("k", {"a": plain()}, ProgressLook(at=NOW), ClusterProgress())),
        ("UpdateItem", lambda: ProgressStore().write_failure("k", "The brokers do not answer.", NOW)),
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


def test_each_request_that_meets_a_row_that_cannot_be_read_says_so_in_the_log(
    caplog: pytest.LogCaptureFixture,
) -> None:
    for _ in range(2):
        assert ProgressPart(row_id="k/0", body=zlib.compress(b"of a newer release")).stored == {}
    assert len(caplog.records) == 2
