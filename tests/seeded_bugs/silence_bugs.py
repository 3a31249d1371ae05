"""Bugs by which what stops, or fails, is not seen."""

from tests.seeded_bugs.bug import Bug

SILENCE_BUGS: tuple[Bug, ...] = (
    Bug(
        "an old look at a Connect cluster is shown as healthy",
        "chalicelib/domain/connectors/cluster_view.py",
        "replace(self._health(cluster.health), watched=True).as_of(now, OBSERVED_FOR)",
        "replace(self._health(cluster.health), watched=True)",
        ("tests/service/monitors/test_own_state.py",),
    ),
    Bug(
        "an old look at a source is shown as healthy",
        "chalicelib/services/monitors/reports.py",
        "watched = replace(health, watched=True)",
        "watched = health",
        ("tests/service/monitors",),
    ),
    Bug(
        "a message that fails is no error",
        "chalicelib/workers/entry.py",
        "            raise MessageFailed(failed[0]) from None",
        "            pass",
        ("tests/unit/workers",),
    ),
    Bug(
        "a part of the dispatcher that fails is no error",
        "chalicelib/schedules/entry.py",
        "        return results.or_raise()",
        "        return results.done",
        ("tests/unit/schedules", "tests/service/test_dispatch.py"),
    ),
)
