"""The order of lists by attention: first what loses data soonest, last what needs nobody."""

from collections.abc import Mapping
from enum import IntEnum, auto

from chalicelib.domain.observation import DesiredState, ObservedState


class AttentionRank(IntEnum):
    """How soon somebody has to look at a pipeline or a delivery: the first ones first."""

    LOSES_LOG = auto()
    FAILED = auto()
    DEGRADED = auto()
    NOT_DEPLOYED = auto()
    UNKNOWN = auto()
    RESTARTING = auto()
    UNASSIGNED = auto()
    MISMATCH = auto()
    OPERATION = auto()
    PAUSED = auto()
    RUNNING = auto()
    DRAFT = auto()


_WHATEVER_IS_DESIRED: Mapping[ObservedState, AttentionRank] = {
    ObservedState.FAILED: AttentionRank.FAILED,
    ObservedState.DEGRADED: AttentionRank.DEGRADED,
    ObservedState.UNKNOWN: AttentionRank.UNKNOWN,
    ObservedState.RESTARTING: AttentionRank.RESTARTING,
    ObservedState.UNASSIGNED: AttentionRank.UNASSIGNED,
}
_AS_DESIRED: Mapping[tuple[DesiredState, ObservedState], AttentionRank] = {
    (DesiredState.PAUSED, ObservedState.PAUSED): AttentionRank.PAUSED,
    (DesiredState.RUNNING, ObservedState.RUNNING): AttentionRank.RUNNING,
    (DesiredState.DRAFT, ObservedState.NOT_DEPLOYED): AttentionRank.DRAFT,
}
"""States that are as people want them. While an operation is open they are about to change."""

_MISMATCHES: Mapping[tuple[DesiredState, ObservedState], AttentionRank] = {
    (DesiredState.RUNNING, ObservedState.NOT_DEPLOYED): AttentionRank.NOT_DEPLOYED,
}
"""Where desired and observed state differ in a way that has a rank of its own."""


def attention_rank(
    desired: DesiredState, observed: ObservedState, *, loses_log: bool, has_operation: bool
) -> AttentionRank:
    """The rank; the first one of several that apply. `loses_log`: its source may soon remove log that it needs."""
    if loses_log:
        return AttentionRank.LOSES_LOG
    if rank := _WHATEVER_IS_DESIRED.get(observed):
        return rank
    if as_desired := _AS_DESIRED.get((desired, observed)):
        return AttentionRank.OPERATION if has_operation else as_desired
    return _MISMATCHES.get((desired, observed), AttentionRank.MISMATCH)
