"""The output of the demonstration: one line per step, with what was observed and how long it took."""

import textwrap
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import httpx
import psycopg
from kafka.errors import KafkaError

WIDTH, INDENT = 118, " " * 7
_ERRORS_BESIDE_HEADGATE = (psycopg.Error, KafkaError, httpx.HTTPError)


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
        """Text for the step's own line."""
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
        """Seconds since the first step."""
        return time.monotonic() - self.began

    @contextmanager
    def step(self, title: str) -> Iterator[Step]:
        """Runs one step and prints its line when it is over. An untrue one is printed, and its error raised again."""
        self.steps += 1
        began, step = time.monotonic(), Step()
        try:
            yield step
        except Untrue as untrue:
            _print_untrue(f"{self.steps:3}  {title}", time.monotonic() - began, untrue)
            raise
        except _ERRORS_BESIDE_HEADGATE as error:
            silent = Untrue(expected="an answer from the stack's own servers", seen=f"{type(error).__name__}: {error}")
            _print_untrue(f"{self.steps:3}  {title}", time.monotonic() - began, silent)
            raise silent from error
        print(f"{self.steps:3}  {title}: {step.observed} ({time.monotonic() - began:.1f} s)")
        for line in step.more:
            print(textwrap.fill(line, WIDTH, initial_indent=INDENT, subsequent_indent=INDENT, break_on_hyphens=False))
        print(end="", flush=True)


def _print_untrue(title: str, seconds: float, untrue: Untrue) -> None:
    print_lines(
        f"{title}: NOT TRUE ({seconds:.1f} s)", f"       expected: {untrue.expected}", f"       seen:     {untrue.seen}"
    )


def print_lines(*lines: str) -> None:
    """Lines between the steps."""
    print(*lines, sep="\n", flush=True)


def counted(number: int, noun: str) -> str:
    """`1 row`, `1,200 rows`."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
