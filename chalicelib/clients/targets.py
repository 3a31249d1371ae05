"""The contract of the clients of all kinds of destinations."""

from collections.abc import Callable, Sequence
from typing import Any, Protocol

from chalicelib.domain.connection_checks import TestResult
from chalicelib.domain.endpoint import OpenedEndpoint
from chalicelib.kit.clock import Deadline


class TargetClient(Protocol):
    """A client of one system. Each call is bounded, and connects to addresses that were checked. All but the test of an
    object store are read-only.
    """

    def test(self, deadline: Deadline) -> TestResult:
        """Tries the connection step by step. A failure is in the result; nothing is raised."""

    def look(self, deadline: Deadline) -> TestResult:
        """The same, as it can be done every minute: nothing is ever left behind."""

    def target_facts(self, targets: Sequence[Any], deadline: Deadline) -> Any:
        """Reads the facts that a delivery into these targets (`Writing.targets`) depends on, and the server's identity.

        Only the provider of the same kind knows the types of targets and facts. Raises Unavailable, TimedOut.
        """


TargetFactory = Callable[[OpenedEndpoint[Any]], TargetClient]
"""Makes the client of one system. The type of the address is that of its provider."""
