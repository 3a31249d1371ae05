"""What discovery says about a column's type: what is true for every target."""

from functools import lru_cache
from typing import NamedTuple

from chalicelib.domain.database import DatabaseProvider
from chalicelib.domain.providers.measured_types.model import ArrivalOutcome, MeasuredValues, values_of
from chalicelib.domain.providers.measured_types.remedies import remedy
from chalicelib.domain.providers.measured_types.sentences import ABSENT, general_sentence
from chalicelib.domain.table import IssueCode, IssueSeverity


class TypeVerdict(NamedTuple):
    """What discovery says about a column's type."""

    code: IssueCode
    severity: IssueSeverity
    message: str


UNKNOWN = TypeVerdict(
    IssueCode.TYPE_CHANGES_VALUE,
    IssueSeverity.WARN,
    "Headgate does not know how values of this type arrive: try it with a copy of the table first.",
)
LEFT_OUT = TypeVerdict(IssueCode.TYPE_NOT_CAPTURED, IssueSeverity.WARN, ABSENT)


@lru_cache(maxsize=1_024)
def discovery_verdict(source: DatabaseProvider, names: tuple[str, ...]) -> TypeVerdict | None:
    """What happens to values of a type with these names, whatever the target; None where all arrive equal somewhere.

    The worst comes first, and gives the code.
    """
    lossy = [values for values in values_of(source, names) if is_told_by_discovery(values)]
    if not lossy:
        return None
    told = sorted(((_verdict(values), values) for values in lossy), key=lambda one: _rank(one[0]))
    sentences = [verdict.message for verdict, _ in told]
    sentences += [advice for verdict, values in told if _is_advised(verdict) and (advice := remedy(values))]
    if all(values.values for values in lossy):
        sentences.append("All other values arrive equal.")
    return told[0][0]._replace(message=" ".join(dict.fromkeys(sentences)))


def is_told_by_discovery(values: MeasuredValues) -> bool:
    """Whether the values arrive equal nowhere."""
    return all(not measured.made.is_equal for measured in values.targets.values())


def is_told_exactly(values: MeasuredValues) -> bool:
    """Whether the same becomes of them everywhere, so that a preview has nothing to add."""
    arrivals = {(measured.made.snapshot.outcome, measured.made.changes.outcome) for measured in values.targets.values()}
    return is_told_by_discovery(values) and len(arrivals) == 1


_SEVERITIES = (IssueSeverity.FAIL, IssueSeverity.WARN, IssueSeverity.INFO)


def _rank(verdict: TypeVerdict) -> int:
    return _SEVERITIES.index(verdict.severity)


def _verdict(values: MeasuredValues) -> TypeVerdict:
    severity = IssueSeverity.INFO if values.values else IssueSeverity.WARN
    outcomes = values.outcomes
    code = IssueCode.TYPE_CHANGES_VALUE
    if outcomes == {ArrivalOutcome.ABSENT}:
        code = IssueCode.TYPE_NOT_CAPTURED
    elif ArrivalOutcome.CAPTURE_STOPS in outcomes:
        code = IssueCode.TYPE_STOPS_TASK
        severity = IssueSeverity.INFO if values.values else IssueSeverity.FAIL
    elif all(measured.made.stops for measured in values.targets.values()):
        code = IssueCode.TYPE_STOPS_TASK
    return TypeVerdict(code, severity, general_sentence(values))


def _is_advised(verdict: TypeVerdict) -> bool:
    return verdict.severity is not IssueSeverity.INFO or verdict.code is IssueCode.TYPE_STOPS_TASK
