"""What follows from operations, from what is known of a pipeline."""

import pytest

from chalicelib.domain.monitoring.source_log import LogGrowth, LogState
from chalicelib.domain.operation import OperationKind
from chalicelib.domain.plans.of_connectors import CaptureKnowledge, of_pipeline
from tests.support.entities import NOW, make_pipeline


def log(per_second: float | None) -> LogState:
    growth = LogGrowth(at=NOW, end=100, retained_bytes=56, active=True, per_second=per_second, latest=per_second)
    return LogState(
        kind="slot",
        name="s",
        active=True,
        retained_bytes=56,
        safe_bytes=None,
        status=None,
        seconds_to_loss=None,
        observed_at=NOW,
        growth=growth,
    )


@pytest.mark.parametrize(
    ("per_second", "told"), [(2_048.0, 2_048), (0.4, None), (0.0, None), (-1_171.0, None), (None, None)]
)
def test_a_pause_says_how_fast_the_log_grows_only_where_it_does(per_second: float | None, told: int | None) -> None:
    known = CaptureKnowledge(pipeline=make_pipeline(), log=log(per_second))
    kept = of_pipeline(OperationKind.PAUSE, known)[1]
    assert (kept.facts["bytes_per_second"], "It grows by" in kept.message) == (told, told is not None)
