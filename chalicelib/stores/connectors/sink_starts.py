"""Which dialect of SQL the sinks have that were started last on each Connect cluster."""

from datetime import datetime
from typing import Any

from pynamodb.attributes import UnicodeAttribute, UnicodeSetAttribute, UTCDateTimeAttribute
from pynamodb.exceptions import UpdateError
from pynamodb.expressions.condition import Condition
from pynamodb.expressions.update import Action

from chalicelib.domain.connectors.sink_starts import SinkStart
from chalicelib.stores.rows import read_rows
from chalicelib.stores.tables import Table, is_condition_failure, meta, store_errors

_PART = "sink starts"


class SinkStartRow(Table):
    """One row of each cluster beside its observations: with them it is removed when the cluster is deleted."""

    Meta = meta("observations")  # type: ignore[assignment]
    cluster_id = UnicodeAttribute(hash_key=True)
    part = UnicodeAttribute(range_key=True)
    dialect = UnicodeAttribute(null=True)
    holder = UnicodeAttribute(null=True)
    until = UTCDateTimeAttribute(null=True)
    dialects = UnicodeSetAttribute(null=True)


class SinkStarts:
    def take(self, cluster_id: str, dialect: str, holder: str, now: datetime, until: datetime) -> SinkStart | None:
        """The start of this sink; None while another dialect has its time."""
        free = SinkStartRow.until.does_not_exist() | (SinkStartRow.until <= now) | (SinkStartRow.holder == holder)
        for alone, condition in ((True, free), (False, SinkStartRow.dialect == dialect)):
            row = self._write(cluster_id, dialect, holder, until, condition)
            if row is not None:
                dialects = frozenset(row.dialects or ())
                return SinkStart(cluster_id=cluster_id, dialect=dialect, holder=holder, alone=alone, dialects=dialects)
        return None

    def end(self, start: SinkStart, now: datetime) -> None:
        """Its tables are made: others need not wait. Nothing happens when another sink was started since."""
        row = SinkStartRow(start.cluster_id, _PART)
        with store_errors():
            try:
                row.update([SinkStartRow.until.set(now)], condition=SinkStartRow.holder == start.holder)
            except UpdateError as error:
                if not is_condition_failure(error):
                    raise

    def dialects(self, cluster_id: str) -> frozenset[str]:
        """All that were ever started on the cluster."""
        (row,) = read_rows((SinkStartRow, cluster_id, _PART))
        return frozenset(row.dialects or ()) if row else frozenset()

    def _write(self, cluster_id: str, dialect: str, holder: str, until: datetime, condition: Condition) -> Any:
        row = SinkStartRow(cluster_id, _PART)
        actions: list[Action] = [
            SinkStartRow.dialect.set(dialect),
            SinkStartRow.holder.set(holder),
            SinkStartRow.until.set(until),
            SinkStartRow.dialects.add({dialect}),
        ]
        with store_errors():
            try:
                row.update(actions, condition=condition)
            except UpdateError as error:
                if not is_condition_failure(error):
                    raise
                return None
        return row
