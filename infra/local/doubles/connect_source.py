"""What a source of the Connect double is, whatever database it reads."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Protocol

from infra.local.doubles.connect_checks import Config

Offset = Mapping[str, object]


def _ignore(_event: str) -> None:
    """Nobody waits for it yet."""


@dataclass(kw_only=True)
class Running:
    """A task that runs: its topics and a source's offsets; or, with a trace, one that failed to start.

    Sources derive from it. From any thread, `on_failure` is called with the trace of a failure that comes later, and
    `on_topic` with a topic that gets its first record.
    """

    topics: tuple[str, ...] = ()
    offsets: list[dict[str, object]] = field(default_factory=list)
    trace: str = ""
    # False: the connector cannot make a task, and Connect tries again for ever.
    has_task: bool = True
    # True: the task is RUNNING before its snapshot, so `begin` has to be called.
    begins_later: bool = False
    on_failure: Callable[[str], None] = field(default=_ignore, repr=False)
    on_topic: Callable[[str], None] = field(default=_ignore, repr=False)

    def begin(self) -> None:
        """Reads the snapshot and starts to stream; sets `trace` if that fails. May take as long as the database."""

    def reached(self) -> list[dict[str, object]]:
        """The offsets that Connect would store now; empty where nothing has changed since the task began."""
        return []

    def close(self) -> None:
        """Releases what the task uses of its database. May be called twice."""


class Source(Protocol):
    """A kind of source: what its plug-in asks a database for, before and when a task starts."""

    def connection_error(self, config: Config, *, time_limit: float) -> str | None:
        """The plug-in's sentence for a database that it cannot reach with this (resolved) configuration, or None."""

    def start(self, config: Config, *, time_limit: float, offset: Offset | None) -> Running:
        """Starts a task; a refusal of the database is in `trace`. `offset` is the one that Connect has stored."""


def source_of(sources: Mapping[str, Source], class_name: str) -> Source | None:
    """The source of a class, by its name with or without the package."""
    return next((one for name, one in sources.items() if class_name in (name, name.rpartition(".")[2])), None)


def topic_of(prefix: str, schema: str, table: str) -> str:
    """The topic of a table by Debezium's rule: characters that no topic's name may have become underscores."""
    return re.sub(r"[^A-Za-z0-9._-]", "_", f"{prefix}.{schema}.{table}")
