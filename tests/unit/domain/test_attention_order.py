import pytest

from chalicelib.domain.attention_order import AttentionRank, attention_rank
from chalicelib.domain.observation import DesiredState, ObservedState

DRAFT, RUNNING, PAUSED = DesiredState.DRAFT, DesiredState.RUNNING, DesiredState.PAUSED
OBSERVED = ObservedState


def rank(
    desired: DesiredState, observed: ObservedState, *, loses_log: bool = False, has_operation: bool = False
) -> AttentionRank:
    return attention_rank(desired, observed, loses_log=loses_log, has_operation=has_operation)


def test_the_order_begins_with_lost_changes_and_ends_with_drafts() -> None:
    in_order = [
        rank(RUNNING, OBSERVED.RUNNING, loses_log=True),
        rank(RUNNING, OBSERVED.FAILED),
        rank(RUNNING, OBSERVED.DEGRADED),
        rank(RUNNING, OBSERVED.NOT_DEPLOYED),
        rank(RUNNING, OBSERVED.UNKNOWN),
        rank(RUNNING, OBSERVED.RESTARTING),
        rank(RUNNING, OBSERVED.UNASSIGNED),
        rank(RUNNING, OBSERVED.STOPPED),
        rank(RUNNING, OBSERVED.RUNNING, has_operation=True),
        rank(PAUSED, OBSERVED.PAUSED),
        rank(RUNNING, OBSERVED.RUNNING),
        rank(DRAFT, OBSERVED.NOT_DEPLOYED),
    ]
    assert in_order == list(AttentionRank)


@pytest.mark.parametrize("observed", [OBSERVED.FAILED, OBSERVED.DEGRADED, OBSERVED.UNKNOWN, OBSERVED.UNASSIGNED])
@pytest.mark.parametrize("desired", DesiredState)
def test_what_is_wrong_counts_whatever_is_desired_and_while_an_operation_is_open(
    desired: DesiredState, observed: ObservedState
) -> None:
    assert rank(desired, observed, has_operation=True).name == observed.name


def test_a_paused_capture_whose_log_is_about_to_be_lost_comes_first() -> None:
    assert rank(PAUSED, OBSERVED.PAUSED, loses_log=True) is AttentionRank.LOSES_LOG


@pytest.mark.parametrize(
    ("desired", "observed"),
    [
        *((RUNNING, OBSERVED.PAUSED), (RUNNING, OBSERVED.STOPPED), (PAUSED, OBSERVED.RUNNING)),
        *((PAUSED, OBSERVED.STOPPED), (PAUSED, OBSERVED.NOT_DEPLOYED), (DRAFT, OBSERVED.RUNNING)),
    ],
)
def test_another_state_than_the_desired_one_is_a_mismatch_with_and_without_an_operation(
    desired: DesiredState, observed: ObservedState
) -> None:
    assert rank(desired, observed) is rank(desired, observed, has_operation=True) is AttentionRank.MISMATCH


def test_a_draft_that_is_being_deployed_shows_as_an_operation() -> None:
    assert rank(DRAFT, OBSERVED.NOT_DEPLOYED, has_operation=True) is AttentionRank.OPERATION
