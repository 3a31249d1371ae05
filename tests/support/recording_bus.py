"""An event bus that keeps the reports of monitors."""

from dataclasses import dataclass, field

from chalicelib.domain.alerts.event import MonitorReport
from chalicelib.kit.clock import Deadline


@dataclass
class RecordingBus:
    """`records` is what it answers: whether everything was recorded. `error` is raised instead, where there is one."""

    records: bool = True
    error: Exception | None = None
    reports: list[MonitorReport] = field(default_factory=list)

    def publish(self, report: MonitorReport, _deadline: Deadline) -> bool:
        """Keep the report."""
        self.reports.append(report)
        if self.error:
            raise self.error
        return self.records

    @property
    def codes(self) -> list[list[str]]:
        """The codes of each report's conditions."""
        return [[condition.code for condition in report.conditions] for report in self.reports]
