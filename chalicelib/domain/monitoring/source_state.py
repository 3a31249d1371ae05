"""Whether the captures from a source can still work, whatever Kafka Connect says about their connectors.

A connector stays RUNNING while Debezium tries again and again to reach the database, and when nothing reads the log
that is kept for it. So each source is checked once a minute, and the findings are shown beside the connector's state.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from enum import StrEnum

from chalicelib.domain.monitoring.condition import ConditionCode, Severity
from chalicelib.domain.monitoring.history import HistoryKind, Sample
from chalicelib.domain.monitoring.source_log import LogState
from chalicelib.domain.observation import Observation, ObservedState
from chalicelib.domain.timing import LOOKED_AT_FOR

CONFIRMED_AFTER = timedelta(seconds=30)
"""What may pass by itself is reported when a second look, at least so much later, finds it again."""

VALID_FOR = LOOKED_AT_FOR
"""A look that is older says nothing about now."""


class FindingCode(StrEnum):
    """What can be wrong with a capture at its source, and with a delivery at its destination."""

    SOURCE_UNREACHABLE = "SOURCE_UNREACHABLE"
    OTHER_SERVER = "OTHER_SERVER"
    LOG_POSITION_MISSING = "LOG_POSITION_MISSING"
    LOG_POSITION_LOST = "LOG_POSITION_LOST"
    NOT_READ = "NOT_READ"
    TABLES_NOT_PUBLISHED = "TABLES_NOT_PUBLISHED"
    STALLED = "STALLED"
    LAG_HIGH = "LAG_HIGH"
    CHANGES_LOST = "CHANGES_LOST"
    LOG_AT_RISK = "LOG_AT_RISK"
    DESTINATION_UNREACHABLE = "DESTINATION_UNREACHABLE"
    TARGET_REPLACED = "TARGET_REPLACED"


LASTING = frozenset({FindingCode.OTHER_SERVER, FindingCode.LOG_POSITION_LOST, FindingCode.CHANGES_LOST})
"""Changes may be lost for good: it is reported until somebody accepts that or makes a new pipeline."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """Something wrong with a capture. `message` is a sentence of ours. `since` is when it was first found.

    `certain`: it is reported at once, because it does not pass by itself or there is no time to look again.
    `condition` is the code of its incident where only the provider of the source knows it. `hint` says what to do
    where that is known better than by its code.
    """

    code: FindingCode
    message: str
    condition: ConditionCode | None = None
    severity: Severity = Severity.ERROR
    certain: bool = False
    since: datetime | None = None
    hint: str | None = None

    @property
    def reason(self) -> str:
        """What people read in the reasons of a status."""
        return f"{self.message} {self.hint}" if self.hint else self.message


@dataclass(frozen=True, slots=True, kw_only=True)
class CapturedLog:
    """The furthest `position` of a log that is known to be captured. Each part is null where it is not known.

    `timeline` is the branch of the log, `started` is when the server that writes it was started, in seconds of its own
    clock, and `checkpoint` is where it was last made durable as a whole.
    """

    position: int | None = None
    timeline: int | None = None
    started: int | None = None
    checkpoint: int | None = None


Position = int | str
"""A position in a log, as only the provider of the source writes it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CaptureState:
    """One capture at its source.

    `server` identifies the server that was captured from, `position` is how far the log is known to be read, and
    `reader` names what sends the log in the server, null when nobody reads it. Each is null where that is not known.
    `captured` says how far the log is known to be captured, and of which log that is a position. `log_end` is where the
    log of the server ended at the last look, for providers that compare that. `log` is what the server keeps for the
    capture, null when it keeps nothing for it.
    """

    server: str | None = None
    position: Position | None = None
    reader: str | None = None
    captured: CapturedLog = field(default_factory=CapturedLog)
    log_end: Position | None = None
    log: LogState | None = None
    findings: tuple[Finding, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceState:
    """What the last look at a source found. `captures` are those of its deployed pipelines, by the pipeline's id."""

    id: str
    checked_at: datetime
    unreachable: Finding | None = None
    captures: Mapping[str, CaptureState] = field(default_factory=dict)
    revision: int = 1
    created_at: datetime

    def findings(self, pipeline_id: str, now: datetime) -> tuple[Finding, ...]:
        """What is to be reported about a pipeline: nothing when the last look was too long ago."""
        if now - self.checked_at > VALID_FOR:
            return ()
        unreachable = [self.unreachable] if self.unreachable and self.is_confirmed(self.unreachable) else []
        return (*unreachable, *self.capture_findings(pipeline_id, now))

    def capture_findings(self, pipeline_id: str, now: datetime) -> tuple[Finding, ...]:
        """The same without what concerns the source itself."""
        if now - self.checked_at > VALID_FOR:
            return ()
        return tuple(filter(self.is_confirmed, self.captures.get(pipeline_id, CaptureState()).findings))

    def log(self, pipeline_id: str, now: datetime) -> LogState | None:
        """The log that the source keeps for a pipeline; None when the last successful look was too long ago."""
        log = self.captures.get(pipeline_id, CaptureState()).log
        return log if log and now - log.observed_at <= VALID_FOR else None

    def max_retained_bytes(self, now: datetime) -> int | None:
        """The most that the source keeps of its log for one pipeline; None when no look has read it lately."""
        logs = (self.log(pipeline_id, now) for pipeline_id in self.captures)
        known = (log.retained_bytes for log in logs if log and log.retained_bytes is not None)
        return max(known, default=None)

    def log_sample(self, now: datetime) -> Sample:
        """The most that the source keeps of its log for one capture, and the least room that one has, as the look
        has seen them that began at that time.
        """
        logs = [capture.log for capture in self.captures.values() if capture.log and capture.log.observed_at >= now]
        return HistoryKind.LOG.combined((log.retained_bytes, log.safe_bytes) for log in logs)

    def degraded(self, pipeline_ids: Iterable[str]) -> frozenset[str]:
        """Those of the pipelines that are not simply RUNNING, by what was found when the source was looked at."""
        findings = {pipeline_id: self.findings(pipeline_id, self.checked_at) for pipeline_id in pipeline_ids}
        return frozenset(pipeline_id for pipeline_id, about in findings.items() if _has_error(about))

    def losing_log(self, pipeline_ids: Iterable[str]) -> frozenset[str]:
        """Those of the pipelines whose log may soon be lost, by the same look."""
        return frozenset(
            one for one in pipeline_ids if _has_code(self.findings(one, self.checked_at), FindingCode.LOG_AT_RISK)
        )

    def noted(self, pipeline_ids: Iterable[str]) -> frozenset[str]:
        """Those of the pipelines about which the same look has found anything, or whose log comes nearer to its end."""
        return frozenset(one for one in pipeline_ids if self.findings(one, self.checked_at) or self._nears_loss(one))

    def _nears_loss(self, pipeline_id: str) -> bool:
        log = self.log(pipeline_id, self.checked_at)
        return log is not None and log.seconds_to_loss is not None

    def with_beginning(self, pipeline_id: str, capture: CaptureState) -> "SourceState":
        """With a capture that has just begun; what was known about a pipeline stays."""
        begun = {pipeline_id: replace(capture, findings=())}
        return replace(self, captures={**begun, **self.captures})

    def accepting(self, pipeline_id: str) -> "SourceState":
        """Without what was remembered about a pipeline: the next look begins anew."""
        return replace(self, captures={key: capture for key, capture in self.captures.items() if key != pipeline_id})

    @property
    def confirmed_captures(self) -> Mapping[str, CaptureState]:
        """The captures without what no second look has found: a later look that does not see them confirms nothing."""
        return {
            pipeline_id: replace(capture, findings=tuple(filter(self.is_confirmed, capture.findings)))
            for pipeline_id, capture in self.captures.items()
        }

    def is_confirmed(self, finding: Finding) -> bool:
        """Whether it does not pass by itself, or was found by a later look too."""
        return finding.certain or (finding.since is not None and self.checked_at - finding.since >= CONFIRMED_AFTER)


def after_check(
    before: SourceState | None,
    source_id: str,
    captures: Mapping[str, CaptureState],
    now: datetime,
    *,
    not_looked_at: Iterable[str] = (),
) -> SourceState:
    """The state after the source was read. Each finding keeps the time at which it was first found, and lasting ones
    stay once they are confirmed.

    What is known about the pipelines `not_looked_at` stays.
    """
    before = before or SourceState(id=source_id, checked_at=now, created_at=now)
    confirmed = before.confirmed_captures
    kept = {pipeline_id: confirmed[pipeline_id] for pipeline_id in not_looked_at if pipeline_id in confirmed}
    checked = {
        pipeline_id: _with_earlier(before.captures.get(pipeline_id), confirmed.get(pipeline_id), capture, now)
        for pipeline_id, capture in captures.items()
    }
    return replace(before, checked_at=now, unreachable=None, captures=kept | checked)


def after_failure(before: SourceState | None, source_id: str, message: str, now: datetime) -> SourceState:
    """The state after the source could not be read; `message` says why, in our own words."""
    state = before or SourceState(id=source_id, checked_at=now, created_at=now)
    earlier = [state.unreachable] if state.unreachable else []
    text = f"The source cannot be reached, so nothing is captured: {message}"
    finding = Finding(code=FindingCode.SOURCE_UNREACHABLE, message=text)
    return replace(
        state,
        checked_at=now,
        unreachable=_dated(finding, earlier, now),
        # A look that fails confirms nothing: what was found only once begins anew with the next look that succeeds.
        captures=state.confirmed_captures,
    )


def observed_with(observation: Observation, findings: Iterable[Finding]) -> Observation:
    """The observation with what was found at the source. Other states than RUNNING keep their name.

    RUNNING becomes DEGRADED by an ERROR alone: with a WARNING rows still move, and it is shown among the reasons. That
    the log is not read is no news where a task has failed, and its advice would contradict that of the failure.
    """
    failed = observation.has_failed
    findings = tuple(finding for finding in findings if not (failed and finding.code is FindingCode.NOT_READ))
    if not findings:
        return observation
    is_degraded = observation.state is ObservedState.RUNNING and _has_error(findings)
    state = ObservedState.DEGRADED if is_degraded else observation.state
    return replace(observation, state=state, reasons=(*observation.reasons, *(finding.reason for finding in findings)))


def with_unread_findings(observation: Observation, place: str) -> Observation:
    """The observation when the findings of looks at its `place` ("source", "destination") cannot be read: RUNNING
    becomes UNKNOWN.
    """
    state = ObservedState.UNKNOWN if observation.state is ObservedState.RUNNING else observation.state
    reason = (
        f"What the last look at its {place} has found cannot be read by this release of Headgate, so whether rows "
        "arrive is not known."
    )
    return replace(observation, state=state, reasons=(*observation.reasons, reason))


def _has_code(findings: Iterable[Finding], code: FindingCode) -> bool:
    return any(finding.code is code for finding in findings)


def _has_error(findings: Iterable[Finding]) -> bool:
    return any(finding.severity is Severity.ERROR for finding in findings)


def _with_earlier(
    before: CaptureState | None, confirmed: CaptureState | None, capture: CaptureState, now: datetime
) -> CaptureState:
    """The capture with what is kept of the last look (`before`), and of that what was `confirmed`."""
    if before is None or confirmed is None:
        return replace(capture, findings=tuple(_dated(finding, (), now) for finding in capture.findings))
    codes = {finding.code for finding in capture.findings}
    lasting = (finding for finding in confirmed.findings if finding.code in LASTING and finding.code not in codes)
    dated = (_dated(finding, before.findings, now) for finding in capture.findings)
    return replace(
        capture,
        server=capture.server or before.server,
        position=before.position if capture.position is None else capture.position,
        log_end=before.log_end if capture.log_end is None else capture.log_end,
        findings=(*dated, *lasting),
    )


def _dated(finding: Finding, earlier: Iterable[Finding], now: datetime) -> Finding:
    since = next((former.since for former in earlier if former.code is finding.code), None)
    return replace(finding, since=since or now)
