"""What the demonstration tells: one line per step, with what was observed and how long it took."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field


class Untrue(Exception):
    """A step was not true: what was expected, and what was seen instead. Both are sentences for people."""

    def __init__(self, *, expected: str, seen: str) -> None:
        super().__init__(f"expected {expected}; saw {seen}")
        self.expected = expected
        self.seen = seen


def require(truth: bool, *, expected: str, seen: object) -> None:
    """Raises Untrue unless it is so."""
    if not truth:
        raise Untrue(expected=expected, seen=str(seen))


@dataclass
class Step:
    """One step while it runs: collects what was observed."""

    observed: str = ""
    more: list[str] = field(default_factory=list)

    def saw(self, text: str) -> None:
        """What stands on the step's own line."""
        self.observed = text

    def also(self, text: str) -> None:
        """A further line below it."""
        self.more.append(text)


class Report:
    """Numbers and prints the steps."""

    def __init__(self) -> None:
        self.began = time.monotonic()
        self.steps = 0

    @property
    def seconds(self) -> float:
        """How long it has been going on."""
        return time.monotonic() - self.began

    @contextmanager
    def step(self, title: str) -> Iterator[Step]:
        """Runs one step and prints its line when it is over. An untrue one is told and raised on."""
        self.steps += 1
        began, step = time.monotonic(), Step()
        try:
            yield step
        except Untrue as untrue:
            print(f"{self.steps:3}  {title}: NOT TRUE ({time.monotonic() - began:.1f} s)")
            print(f"       expected: {untrue.expected}\n       seen:     {untrue.seen}", flush=True)
            raise
        print(f"{self.steps:3}  {title}: {step.observed} ({time.monotonic() - began:.1f} s)")
        for line in step.more:
            print(f"       {line}")
        print(end="", flush=True)


def tell(*lines: str) -> None:
    """Lines between the steps."""
    print(*lines, sep="\n", flush=True)


def counted(number: int, noun: str) -> str:
    """`1 row`, `1,200 rows`."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
