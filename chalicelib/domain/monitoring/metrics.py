"""What people see of a connector's progress."""

from dataclasses import dataclass
from datetime import datetime

from chalicelib.domain.monitoring.source_state import Finding, FindingCode, observed_with
from chalicelib.domain.observation import Observation, ObservedState

NOT_KNOWN = (
    "Throughput and lag are not measured: the metrics_provider of the stream cluster is none, or its first measurement "
    "is still to come."
)
OF_DRAFT = "A draft has no connector yet, so it has no throughput and no lag."
NOT_READ = "This answer does not tell throughput and lag. Read the resource again."

_WHILE_RUNNING = (FindingCode.STALLED, FindingCode.LAG_HIGH)


@dataclass(frozen=True, slots=True, kw_only=True)
class Metrics:
    """`throughput` in records a second, `lag` in records; `notice` says why something is null.

    `seconds_behind` is how long ago, at the measurement, the record was written that a delivery has to deliver next: 0
    when nothing waits. `moved_at` is when the connector was last found to have moved, null when it has not since the
    first measurement. `not_watched` says why it cannot be seen whether it moves, although it was measured.
    """

    throughput: float | None = None
    lag: int | None = None
    seconds_behind: int | None = None
    notice: str | None = NOT_KNOWN
    measured: bool = False
    moved_at: datetime | None = None
    not_watched: str | None = None
    findings: tuple[Finding, ...] = ()

    def explain(self, observation: Observation) -> Observation:
        """The observation with what was found; without what only a running connector can be blamed for when it does not
        run by now.
        """
        is_running = observation.state in (ObservedState.RUNNING, ObservedState.DEGRADED)
        # The measurement may be older than the observation: meanwhile the connector may have been paused.
        findings = (finding for finding in self.findings if is_running or finding.code not in _WHILE_RUNNING)
        return observed_with(observation, findings)
