"""Adds what monitors have measured to histories: once a minute for each Connect cluster and each source."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from chalicelib.domain.monitoring.history import NOTHING, Grain, Sample, Series, is_summed_up
from chalicelib.kit.clock import Deadline
from chalicelib.kit.isolation import isolated
from chalicelib.stores.monitoring.histories import HistoryStore


@dataclass(frozen=True, slots=True, kw_only=True)
class HistoryRecorder:
    store: HistoryStore

    def record(
        self,
        series: Series,
        samples: Mapping[str, Sample],
        at: datetime,
        last: datetime | None,
        deadline: Deadline,
    ) -> None:
        """Add the samples of this minute, by member, unless the `last` measurement was in it. A failure is logged, and
        leaves a gap: a plot is not worth a look.
        """
        minute = Grain.MINUTE.floor(at)
        known = {member: sample for member, sample in samples.items() if sample != NOTHING}
        if not known or (last and Grain.MINUTE.floor(last) == minute):
            return
        with isolated():
            self.store.add(series, minute, known)
            if is_summed_up(series, at):
                self.store.sum_up(series, Grain.HOUR.time(Grain.HOUR.number(at) - 1), deadline)
