"""An event bus that keeps the reports of monitors, and hands them on."""

from dataclasses import dataclass, field

from chalicelib.domain.monitoring.incident import OPERATIONS
from chalicelib.domain.monitoring.report import MonitorReport
from chalicelib.kit.clock import Deadline
from chalicelib.services.alerts.bus import EventBus


@dataclass
class RecordingBus:
    """`reports` are those of the places that monitors look at, without those of `operations`, which say no more than
    that what was found stands. `records` is what it answers: whether everything was recorded. `error` is raised
    instead, where there is one. Reports go on to the bus behind it, if there is one.
    """

    behind: EventBus | None = None
    records: bool = True
    error: Exception | None = None
    reports: list[MonitorReport] = field(default_factory=list)

    def publish(self, report: MonitorReport, deadline: Deadline) -> bool:
        if report.origin != OPERATIONS:
            self.reports.append(report)
        published = self.behind.publish(report, deadline) if self.behind else True
        if self.error:
            raise self.error
        return self.records and published

    @property
    def codes(self) -> list[list[str]]:
        return [[condition.code for condition in report.conditions] for report in self.reports]
