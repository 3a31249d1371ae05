"""Histories of numbers as columns (wire contract, section 8)."""

from datetime import datetime
from typing import Self

from pydantic import Field

from chalicelib.api.contract.common import Input, Output, Time, Timestamp
from chalicelib.domain.monitoring.history import per_second
from chalicelib.services.histories import History

_TIMES = (
    "When each point begins: at most 500, at equal distances. Up to two days of the last 14 they are made of minutes, "
    "else of whole hours, the last of which follows up to an hour late."
)


class HistoryQuery(Input):
    """Which time is shown."""

    from_: Time | None = Field(
        default=None,
        alias="from",
        description="From this time on; by default 24 hours before `to`. At most 400 days before it.",
    )
    to: Time | None = Field(default=None, description="Before this time, later than `from`; by default until now.")

    @property
    def bounds(self) -> tuple[datetime | None, datetime | None]:
        return self.from_, self.to


class MetricHistoryOutput(Output):
    """Columns of equal length."""

    times: list[Timestamp] = Field(description=_TIMES)
    lag: list[int | None] = Field(
        description="Records that are not delivered yet: the most within each point; null where it was not measured. "
        "A pipeline has none: its deliveries have."
    )
    throughput: list[float | None] = Field(
        description="Records in a second: the mean of each point; null where it was not measured."
    )

    @classmethod
    def of(cls, entity: History) -> Self:
        return cls(
            times=list(entity.times),
            lag=[lag for lag, _ in entity.samples],
            throughput=[per_second(throughput) for _, throughput in entity.samples],
        )


class LogHistoryOutput(Output):
    """Columns of equal length. Of a source with several captures the largest log, and the smallest room, are shown."""

    times: list[Timestamp] = Field(description=_TIMES)
    retained_bytes: list[int | None] = Field(
        description="What the source keeps of its log for the capture that needs the most of it: the most within each "
        "point; null where it was not measured."
    )
    safe_bytes: list[int | None] = Field(
        description="How much may still be written before a capture loses changes: the least of all captures within "
        "each point; null where nothing bounds it, or it was not measured."
    )

    @classmethod
    def of(cls, entity: History) -> Self:
        return cls(
            times=list(entity.times),
            retained_bytes=[retained for retained, _ in entity.samples],
            safe_bytes=[safe for _, safe in entity.samples],
        )
