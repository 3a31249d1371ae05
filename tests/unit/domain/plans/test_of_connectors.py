"""What follows from an operation on a pipeline."""

from datetime import UTC, datetime

import pytest

from chalicelib.domain.monitoring.source_log import LogGrowth, LogState
from chalicelib.domain.operation import OperationKind
from chalicelib.domain.plans.consequences import ConsequenceCode
from chalicelib.domain.plans.of_connectors import CaptureKnowledge, of_pipeline
from tests.support.entities import make_pipeline

NOW = datetime(2026, 1, 1, tzinfo=UTC)


@pytest.mark.parametrize(
    ("rate", "words"), [(2048.0, "It grows by 2 KB a second."), (0.3, ""), (-40.0, ""), (None, "")]
)
def test_a_pause_says_how_fast_a_log_grows_that_grows(rate: float | None, words: str) -> None:
    growth = LogGrowth(at=NOW, end=9_000, retained_bytes=56, active=True, per_second=rate, latest=rate)
    log = LogState(
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
    plan = of_pipeline(OperationKind.PAUSE, CaptureKnowledge(pipeline=make_pipeline(), log=log))
    (kept,) = [one for one in plan if one.code is ConsequenceCode.LOG_IS_KEPT]
    assert kept.message.split("now: 56 bytes.")[1].strip() == words
