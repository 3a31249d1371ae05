"""What can be wrong with the audit trail, and what people read about it."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum


class ProblemCode(StrEnum):
    RECORD_CHANGED = "RECORD_CHANGED"
    RECORD_MISSING = "RECORD_MISSING"
    RECORD_NOT_CHAINED = "RECORD_NOT_CHAINED"
    BLOCK_MISSING = "BLOCK_MISSING"
    BLOCK_CHANGED = "BLOCK_CHANGED"
    ANCHOR_DIFFERS = "ANCHOR_DIFFERS"
    ANCHOR_CHANGED = "ANCHOR_CHANGED"
    ANCHOR_MISSING = "ANCHOR_MISSING"
    ANCHOR_REMOVED = "ANCHOR_REMOVED"
    TRAIL_MISSING = "TRAIL_MISSING"
    TRAIL_ROLLED_BACK = "TRAIL_ROLLED_BACK"
    COPY_DIFFERS = "COPY_DIFFERS"
    COPY_MISSING = "COPY_MISSING"


PROBLEMS: Mapping[ProblemCode, str] = {
    ProblemCode.RECORD_CHANGED: "The record is not what was signed.",
    ProblemCode.RECORD_MISSING: "The record has been deleted.",
    ProblemCode.RECORD_NOT_CHAINED: (
        "The record's time was signed without it, or has not come: it was added by somebody else."
    ),
    ProblemCode.BLOCK_MISSING: "The block with this number, which lists signed records, has been deleted.",
    ProblemCode.BLOCK_CHANGED: "The block with this number, which lists signed records, is not what was written.",
    ProblemCode.ANCHOR_DIFFERS: "The shard does not end with what was signed: it was rolled back or written anew.",
    ProblemCode.ANCHOR_CHANGED: "The anchor with this number is not what was signed.",
    ProblemCode.ANCHOR_MISSING: (
        "Records have not been signed for ten minutes: the schedule fails, or the anchors were deleted."
    ),
    ProblemCode.ANCHOR_REMOVED: "The anchor with this number has been deleted.",
    ProblemCode.TRAIL_MISSING: "There is no anchor, although this installation has signed its audit trail before.",
    ProblemCode.TRAIL_ROLLED_BACK: (
        "The copy outside of the tables is of the anchor with this number, and the tables end before it: they were "
        "rolled back or restored."
    ),
    ProblemCode.COPY_DIFFERS: "The copy outside of the tables is of another anchor with this number.",
    ProblemCode.COPY_MISSING: "There is no copy of the last anchor outside of the tables, where one was stored before.",
}
ADVICE = (
    "Leave the tables as they are. Restore the audit tables of an earlier time into other tables and compare them; "
    "CloudTrail says who has written to them, and the dispatcher's log has each anchor. If you have restored them "
    "yourself, accept that: POST /api/v1/audit/accept-restored."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """Something that is wrong. `number` counts the records of a shard, or its blocks, or the anchors, by what the code
    is about; `record_id` and `at` are the record's, or the time of the anchor.
    """

    code: ProblemCode
    shard: str | None = None
    number: int | None = None
    record_id: str | None = None
    at: str | None = None

    @property
    def message(self) -> str:
        return f"{PROBLEMS[self.code]} {ADVICE}"


class AuditChanged(Exception):
    """The audit trail is not what was signed: somebody has tampered with it, or has restored its tables."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem.code.value)
        self.problem = problem
