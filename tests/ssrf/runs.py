"""Sends a notification to every form, as the worker does, and counts where connections go.

Names resolve as the forms say; literals as the system's resolver reads them. A server on loopback counts who connects
to it, and every connection that the HTTP client asks for is recorded.
"""

import socket
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field

from chalicelib.domain.alerts.channel import ChannelProvider
from chalicelib.errors import Invalid
from chalicelib.kit.clock import Deadline
from chalicelib.kit.hosts import parse_url
from chalicelib.notify.contract import Permanent
from tests.ssrf.forms import Form
from tests.support.alerting.notifications import Dial, message, recorded_dials, resolving, secrets, senders


@dataclass
class Sink:
    """Servers on the loopback addresses of IPv4 and IPv6, on one port. They count connections."""

    port: int = 0
    accepted: int = 0
    _sockets: list[socket.socket] = field(default_factory=list)

    def serve(self, address: str, family: socket.AddressFamily) -> None:
        listener = socket.socket(family)
        listener.bind((address, self.port))
        listener.listen(128)
        self.port = listener.getsockname()[1]
        self._sockets.append(listener)
        threading.Thread(target=self._accept, args=(listener,), daemon=True).start()

    def stop(self) -> None:
        for listener in self._sockets:
            with suppress(OSError):
                listener.shutdown(socket.SHUT_RDWR)
            listener.close()

    def _accept(self, listener: socket.socket) -> None:
        with suppress(OSError):
            while True:
                connection, _ = listener.accept()
                self.accepted += 1
                connection.close()


@contextmanager
def sink() -> Iterator[Sink]:
    running = Sink()
    running.serve("127.0.0.1", socket.AF_INET)
    with suppress(OSError):  # a machine without IPv6
        running.serve("::1", socket.AF_INET6)
    try:
        yield running
    finally:
        running.stop()


@dataclass(frozen=True, kw_only=True)
class Result:
    """What came of one form: whether it could be stored, whether sending was refused for good, who was connected to."""

    form: Form
    stored: bool
    blocked: bool
    dials: tuple[Dial, ...]


def run(forms: Sequence[Form], port: int, *, allow_private: bool = False) -> list[Result]:
    """Store and send to every form. With `allow_private` addresses are not checked: the forms have to show that."""
    return [_run(form, form.url.replace("{port}", str(port)), allow_private=allow_private) for form in forms]


def _run(form: Form, url: str, *, allow_private: bool) -> Result:
    names = {parse_url(url).target.host.strip("[]"): form.addresses} if form.addresses else {}
    sender = senders(resolve=resolving(names), allow_private=allow_private)[ChannelProvider.WEBHOOK]
    with recorded_dials() as dials:
        try:
            sender.check(secrets(url=url))
            stored = True
        except Invalid:
            stored = False
        outcome = sender.send(message(), secrets(url=url), Deadline.after(10))
    return Result(form=form, stored=stored, blocked=isinstance(outcome, Permanent), dials=tuple(dials))


def wrongly_allowed(results: Sequence[Result]) -> list[Result]:
    """Of forbidden forms: those that could be stored, were not refused for good, or led to a connection."""
    return [result for result in results if result.stored or not result.blocked or result.dials]


def wrongly_refused(results: Sequence[Result]) -> list[Result]:
    """Of legal forms: those that could not be stored, or did not lead to exactly the address of their name."""
    return [result for result in results if not result.stored or result.blocked or not _reached(result)]


def _reached(result: Result) -> bool:
    expected = result.form.addresses or (parse_url(result.form.url).target.host.strip("[]"),)
    return [host for host, _ in result.dials] == list(expected)
