"""What Headgate measures of itself for CloudWatch: the one table. Alarms and documentation follow its rows."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum

from chalicelib.domain.timing import MINUTE, OBSERVED_FOR

NAMESPACE = "Headgate"
DIMENSION = "installation"
"""The only dimension. Its value is the prefix of the installation's tables, such as `headgate-`."""


class Unit(StrEnum):
    """As CloudWatch names them."""

    SECONDS = "Seconds"
    COUNT = "Count"


class OwnMetric(StrEnum):
    """Names of metrics."""

    OLDEST_TICK_AGE = "OldestTickAge"
    CLUSTERS_NOT_OBSERVED = "ClustersNotObserved"
    SYSTEMS_NOT_OBSERVED = "SystemsNotObserved"
    PARTS_FAILED = "PartsFailed"
    DISPATCH_SECONDS = "DispatchSeconds"
    MESSAGES_SENT = "MessagesSent"
    MESSAGES_FAILED = "MessagesFailed"
    REPORTS_NOT_RECORDED = "ReportsNotRecorded"
    OLDEST_NOTIFICATION_AGE = "OldestNotificationAge"
    NOTIFICATIONS_FAILED = "NotificationsFailed"
    OLDEST_JOB_AGE = "OldestJobAge"
    UNSIGNED_AUDIT_AGE = "UnsignedAuditAge"
    AUDIT_CHANGES_FOUND = "AuditChangesFound"


Measure = Callable[[Mapping[OwnMetric, float]], None]
"""Takes values that were measured just now."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnMetricRow:
    """`alarm_above`: from this value on people have to look, when it lasts for so many `minutes` in a row; None: never.

    `action` says what they look at. `sum`: values of one minute add up; otherwise the highest counts.
    """

    meaning: str
    unit: Unit
    alarm_above: float | None = None
    minutes: int = 1
    action: str = ""
    sum: bool = False


OWN_METRICS: Mapping[OwnMetric, OwnMetricRow] = {
    OwnMetric.OLDEST_TICK_AGE: OwnMetricRow(
        meaning="since the last look at the Connect cluster that was not looked at for longest",
        unit=Unit.SECONDS,
        alarm_above=OBSERVED_FOR.total_seconds(),
        minutes=2,
        action="Ticks do not run, or fail: read the log of run-tick, and see whether its queue is taken.",
    ),
    OwnMetric.CLUSTERS_NOT_OBSERVED: OwnMetricRow(
        meaning="Connect clusters that were not looked at for three minutes; each has an incident",
        unit=Unit.COUNT,
        alarm_above=0,
        minutes=2,
        action="Ticks do not run, or fail: read the log of run-tick, and see whether its queue is taken.",
    ),
    OwnMetric.SYSTEMS_NOT_OBSERVED: OwnMetricRow(
        meaning="sources and destinations whose monitor has not looked at them for five minutes",
        unit=Unit.COUNT,
        alarm_above=0,
        minutes=3,
        action="Read the logs of run-source-check and run-destination-check, and see whether their queues are taken.",
    ),
    OwnMetric.PARTS_FAILED: OwnMetricRow(
        meaning="parts of the dispatcher that have failed in this run",
        unit=Unit.COUNT,
        alarm_above=0,
        minutes=3,
        action="Read the log of dispatch: `a part of the schedule failed` names the part.",
    ),
    OwnMetric.DISPATCH_SECONDS: OwnMetricRow(
        meaning="how long this run of the dispatcher has taken",
        unit=Unit.SECONDS,
        alarm_above=(MINUTE - MINUTE / 12).total_seconds(),
        minutes=5,
        action="The dispatcher has more to do than a minute allows: its log has the time of each part.",
    ),
    OwnMetric.MESSAGES_SENT: OwnMetricRow(
        meaning="messages that this run of the dispatcher has put into queues", unit=Unit.COUNT, sum=True
    ),
    OwnMetric.MESSAGES_FAILED: OwnMetricRow(
        meaning="messages that a worker could not do in this attempt", unit=Unit.COUNT, sum=True
    ),
    OwnMetric.REPORTS_NOT_RECORDED: OwnMetricRow(
        meaning="reports of monitors that could not be recorded as incidents and alerts",
        unit=Unit.COUNT,
        alarm_above=0,
        minutes=3,
        action="The tables of incidents or alerts refuse: `a report was not recorded` in the logs has the reason.",
        sum=True,
    ),
    OwnMetric.OLDEST_NOTIFICATION_AGE: OwnMetricRow(
        meaning="since the oldest notification that is still to be sent was queued",
        unit=Unit.SECONDS,
        alarm_above=(10 * MINUTE).total_seconds(),
        action="Messages about alerts are late: read the log of deliver-notifications, and test the channels.",
    ),
    OwnMetric.NOTIFICATIONS_FAILED: OwnMetricRow(
        meaning="notifications that were given up",
        unit=Unit.COUNT,
        alarm_above=0,
        action="Somebody was not told of an alert: `GET /alerts/{id}` shows which channel refuses, and why.",
        sum=True,
    ),
    OwnMetric.OLDEST_JOB_AGE: OwnMetricRow(
        meaning="since the oldest job that has not ended was requested",
        unit=Unit.SECONDS,
        alarm_above=(10 * MINUTE).total_seconds(),
        action="Jobs wait: read the log of run-job, and see whether its queue is taken.",
    ),
    OwnMetric.UNSIGNED_AUDIT_AGE: OwnMetricRow(
        meaning="since the audit trail was signed last; it is signed at least every ten minutes",
        unit=Unit.SECONDS,
        alarm_above=(15 * MINUTE).total_seconds(),
        action="Read the log of dispatch: its part audit_anchors fails.",
    ),
    OwnMetric.AUDIT_CHANGES_FOUND: OwnMetricRow(
        meaning="1 when the audit trail is not what was signed",
        unit=Unit.COUNT,
        alarm_above=0,
        action="Somebody has changed the audit trail: leave the tables as they are, and verify it.",
    ),
}
