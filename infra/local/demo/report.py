"""The output of the demonstration: one line per step, with the observation and the seconds."""

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


class StepFailed(Exception):
    """A step failed. `expected` and `actual` are texts for people."""

    def __init__(self, *, expected: str, actual: str) -> None:
        super().__init__(f"expected {expected}; saw {actual}")
        self.expected = expected
        self.actual = actual


def require(condition: bool, *, expected: str, actual: object) -> None:
    """Raises StepFailed unless the condition holds."""
    if not condition:
        raise StepFailed(expected=expected, actual=str(actual))


@dataclass
class DemoStep:
    """One step while it runs: collects observations."""

    observed: str = ""
    lines: list[str] = field(default_factory=list)

    def observe(self, text: str) -> None:
        """Text for the step's own line."""
        self.observed = text

    def add_line(self, text: str) -> None:
        """A further line below it."""
        self.lines.append(text)


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
    def step(self, title: str) -> Iterator[DemoStep]:
        """Runs one step and prints its line when it is over. Raises the error of a failed step again."""
        self.steps += 1
        began, step = time.monotonic(), DemoStep()
        try:
            yield step
        except StepFailed as failure:
            _print_failure(f"{self.steps:3}  {title}", time.monotonic() - began, failure)
            raise
        except _ERRORS_BESIDE_HEADGATE as error:
            silent = StepFailed(
                expected="an answer from the stack's own servers", actual=f"{type(error).__name__}: {error}"
            )
            _print_failure(f"{self.steps:3}  {title}", time.monotonic() - began, silent)
            raise silent from error
        print(f"{self.steps:3}  {title}: {step.observed} ({time.monotonic() - began:.1f} s)")
        for line in step.lines:
            print(textwrap.fill(line, WIDTH, initial_indent=INDENT, subsequent_indent=INDENT, break_on_hyphens=False))
        print(end="", flush=True)


def _print_failure(title: str, seconds: float, failure: StepFailed) -> None:
    print_lines(
        f"{title}: NOT TRUE ({seconds:.1f} s)",
        f"       expected: {failure.expected}",
        f"       seen:     {failure.actual}",
    )


def print_lines(*lines: str) -> None:
    """Lines between the steps."""
    print(*lines, sep="\n", flush=True)


def counted(number: int, noun: str) -> str:
    """`1 row`, `1,200 rows`."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
