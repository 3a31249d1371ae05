"""All orders in which workers may take their steps: a step is a call to the store, or a send.

Each run starts anew and repeats a prefix of choices; behind it the first possible choice is taken, and the others are
kept for later runs. A state that was seen before is not continued: it is the contents of the tables, the time, and of
each worker everything that it was answered, so whatever follows would be the same. Consecutive queries of one worker
are one step, because an index may be out of date anyway.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any, NamedTuple
from unittest.mock import patch
from uuid import UUID, uuid4

from chalicelib.kit import ids
from tests.support.alerting.virtual import AlertingDriver
from tests.support.apps.call_interceptor import Crash, Side
from tests.support.apps.stepped_thread import SteppedThread, current_thread

OVERRUN_SECONDS = 25.0
"""Longer than any lease."""

_TABLES = ("notifications", "channel-gates", "alerts")


class Choice(NamedTuple):
    """What happens next: a worker takes its step or dies before it, or so much time passes that leases end."""

    kind: str
    worker: int = -1


@dataclass
class Figures:
    """What an exploration has seen."""

    runs: int = 0
    states: int = 0
    ends: int = 0


class _Worker(SteppedThread):
    def __init__(self, explorer: "Interleavings", number: int, action: Callable[[], None]) -> None:
        super().__init__(explorer, action)
        self.number = number
        self.history, self.before = "", ""
        self.made_ids = 0

    def saw(self, answer: object) -> None:
        self.history = sha256(f"{self.history}{answer}".encode()).hexdigest()


def _current_worker(explorer: "Interleavings") -> _Worker | None:
    worker = current_thread(explorer)
    return worker if isinstance(worker, _Worker) else None


@dataclass
class Interleavings:
    """Explores all orders of the steps of workers, with at most so many crashes and overruns of leases.

    `begin` restores the state before and returns the workers; `check` looks at the end of each run, given the number
    of crashes and overruns in it.
    """

    driver: AlertingDriver
    begin: Callable[[], Sequence[Callable[[], None]]]
    check: Callable[[int, int], None]
    crashes: int = 0
    overruns: int = 0
    figures: Figures = field(default_factory=Figures)
    _seen: set[str] = field(default_factory=set)

    def explore(self) -> Figures:
        """All of them. Raises what `check` raises, with the choices that led there."""
        open_prefixes: list[tuple[Choice, ...]] = [()]
        with self._stepwise():
            while open_prefixes:
                open_prefixes += self._run(open_prefixes.pop())
        self.figures.states = len(self._seen)
        return self.figures

    def pause(self) -> None:
        """A step of a worker that is no call to the store: a send. Nothing when the test itself sends."""
        if worker := _current_worker(self):
            worker.park()
            worker.before = "send"

    def _run(self, prefix: tuple[Choice, ...]) -> list[tuple[Choice, ...]]:
        """One run; returns the prefixes of those that follow from it."""
        workers = [_Worker(self, number, action) for number, action in enumerate(self.begin())]
        path, more = list(prefix), list[tuple[Choice, ...]]()
        self.figures.runs += 1
        for worker in workers:
            worker.resume()
        for choice in prefix:
            self._take(choice, workers)
        while (state := self._state(workers, path)) not in self._seen:
            self._seen.add(state)
            choices = self._choices(workers, path)
            if not choices:
                self._end(workers, path)
                return more
            more += [(*path, choice) for choice in choices[1:]]
            path.append(choices[0])
            self._take(choices[0], workers)
        for worker in workers:
            if worker.runs:
                worker.kill()
        return more

    def _end(self, workers: Sequence[_Worker], path: Sequence[Choice]) -> None:
        self.figures.ends += 1
        try:
            for worker in workers:
                if worker.error:
                    raise worker.error
            self.check(sum(one.kind == "crash" for one in path), sum(one.kind == "overrun" for one in path))
        except BaseException as error:
            error.add_note(f"after {[f'{kind} {worker}' for kind, worker in path]}")
            raise

    def _choices(self, workers: Sequence[_Worker], path: Sequence[Choice]) -> list[Choice]:
        alive = [worker.number for worker in workers if worker.runs]
        choices = [Choice("step", number) for number in alive]
        if alive and sum(one.kind == "crash" for one in path) < self.crashes:
            choices += [Choice("crash", number) for number in alive]
        if alive and sum(one.kind == "overrun" for one in path) < self.overruns:
            choices.append(Choice("overrun"))
        return choices

    def _take(self, choice: Choice, workers: Sequence[_Worker]) -> None:
        match choice.kind:
            case "step":
                workers[choice.worker].resume()
            case "crash":
                workers[choice.worker].kill()
            case "overrun":
                self.driver.app.clock.advance(OVERRUN_SECONDS)

    def _state(self, workers: Sequence[_Worker], path: Sequence[Choice]) -> str:
        """Everything that decides what may follow."""
        stored = [sorted(map(repr, self.driver.app.tables.rows(table))) for table in _TABLES]
        of_workers = [(worker.runs, worker.is_dead, worker.history) for worker in workers]
        faults = [sum(one.kind == kind for one in path) for kind in ("crash", "overrun")]
        received = [len(provider.received) for provider in self.driver.sender.providers.values()]
        return sha256(repr((stored, of_workers, faults, received, self.driver.now)).encode()).hexdigest()

    @contextmanager
    def _stepwise(self) -> Iterator[None]:
        """Calls of workers are steps, and the ids that they make are the same in each run."""
        interceptor = self.driver.app.interceptor
        intercept = interceptor.intercept

        def intercepted(side: Side, operation: str, *, writes: bool, call: Any, request: Any = None) -> Any:
            worker = _current_worker(self)
            if worker is None:
                return intercept(side, operation, writes=writes, call=call, request=request)
            if worker.is_dead:
                raise Crash
            if not operation == worker.before == "Query":
                worker.park()
            worker.before = operation
            answer = intercept(side, operation, writes=writes, call=call, request=request)
            worker.saw(answer[2] if isinstance(answer, tuple) else answer)
            return answer

        def made_id() -> UUID:
            worker = _current_worker(self)
            if worker is None:
                return uuid4()
            worker.made_ids += 1
            return UUID(int=(worker.number + 1) << 64 | worker.made_ids)

        interceptor.intercept = intercepted  # type: ignore[method-assign]
        try:
            with patch.object(ids, "uuid4", made_id):
                yield
        finally:
            interceptor.intercept = intercept  # type: ignore[method-assign]
