"""Sinks that write in different dialects of SQL are started one kind after the other on a Connect cluster.

Debezium's JDBC sink (3.5 to 3.7) keeps its types in static objects of the worker, which speak the dialect of the sink
task that was started last (AbstractType.configure). A table that another sink makes after that gets types of the other
dialect. So a sink that was just started has some time to make its tables. What was measured, and what this cannot
prevent, is in `infra/decisions/033-sinks-of-two-dialects.md`.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta

from chalicelib.domain.connector_config import ConfigWarning
from chalicelib.domain.delivery import TableWriting
from chalicelib.domain.names import name_list
from chalicelib.domain.observation import Observation, ObservedState

MAKES_TABLES_FOR = timedelta(seconds=20)
"""So long no sink of another dialect is started, unless all tables of the one before exist already."""

WAIT_SECONDS = 12.0
"""For a request that starts a sink; a tick does not wait."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SinkStart:
    """The start of the sink of a delivery (`holder`). `dialects` are all that were ever started on the cluster.

    `alone`: no other sink of this dialect was started shortly before, so the end of this one ends the wait of others.
    """

    cluster_id: str
    dialect: str
    holder: str
    alone: bool
    dialects: frozenset[str]

    @property
    def has_others(self) -> bool:
        return self.dialects != {self.dialect}


def waiting(now: datetime) -> Observation:
    """Of a sink that was created and not started yet."""
    reason = (
        "It waits until sinks to another kind of database on this Connect cluster have made their tables. Then "
        "Headgate starts it."
    )
    return Observation(state=ObservedState.STOPPED, observed_at=now, reasons=(reason,))


def dialect_warnings(writing: TableWriting, others: Iterable[str]) -> Iterator[ConfigWarning]:
    """What to know where sinks of other dialects are started beside one that makes or alters tables."""
    names = sorted(others)
    if names and writing.evolves:
        message = (
            f"Sinks that write to {name_list(names)} are started on this Connect cluster too. Debezium's sink makes "
            "tables and adds columns with the types of the sink that was started last in its worker. Headgate starts "
            "the kinds one after the other: tables of topics that have records by then get the right types. A table "
            "or a column that comes later may get types of the other kind. Create the tables first (target_ddl) and "
            "turn auto_create and auto_evolve off, or use another Connect cluster for each kind."
        )
        yield ConfigWarning(code="SINKS_OF_TWO_KINDS", message=message)
