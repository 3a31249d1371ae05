"""What a case of the fault suite is: an operation, its preparation, the request, and how success is seen."""

from collections.abc import Callable
from dataclasses import dataclass

from chalicelib.domain.cluster import ConnectCluster
from tests.support.apps.in_process_app import InProcessApp


@dataclass(frozen=True, kw_only=True)
class PreparedOperation:
    """A prepared operation: `request` sends it as a client would, `is_done` says whether it was carried out.

    `warm_up` is a request that the process serves before it. `leaves_connector`: ticks have to remove its connector.
    `ticks_do_it_too`: whatever the answer was, ticks carry it out. `needs_ticks`: it is about connectors. `repeatable`:
    a client may send it again after a success, and is answered with one. `repeats_without_answer`: a client that got
    none sends it again, and may be refused. `start_over`: what is sent next is another request, after a refusal.
    `cluster`: whose ticks finish it.
    """

    request: Callable[[], object]
    is_done: Callable[[], bool]
    warm_up: Callable[[], object] = lambda: None
    leaves_connector: bool = False
    ticks_do_it_too: bool = False
    needs_ticks: bool = True
    ticks_before: int = 2
    repeatable: bool = False
    repeats_without_answer: bool = False
    start_over: Callable[[], None] = lambda: None
    cluster: ConnectCluster | None = None


@dataclass(frozen=True, kw_only=True)
class OperationCase:
    """One operation, and how to create what it needs."""

    name: str
    prepare: Callable[[InProcessApp], PreparedOperation]

    def __str__(self) -> str:
        return self.name


def named_cases(*named: tuple[str, Callable[[InProcessApp], PreparedOperation]]) -> tuple[OperationCase, ...]:
    """The cases with these names and preparations."""
    return tuple(OperationCase(name=name, prepare=prepare) for name, prepare in named)
