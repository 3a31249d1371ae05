"""Receives the messages of a demonstration: a chat webhook on this machine. Only Headgate trusts its certificate."""

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from infra.local.doubles.authority import Authority
from infra.local.doubles.notification_receivers import Kind, NotificationReceiver

_VALID_HOURS = 24.0


@contextmanager
def receiving(state: Path) -> Iterator[NotificationReceiver]:
    """The receiver, until the end of the block. `state` gets the file of `settings`."""
    authority = Authority(hours=_VALID_HOURS)
    configured = os.environ.get("HEADGATE_CA_BUNDLE")
    trusted = Path(configured).read_text(encoding="utf-8") if configured else ""
    state.mkdir(parents=True, exist_ok=True)
    _bundle(state).write_text(trusted + authority.certificate, encoding="utf-8")
    with NotificationReceiver(Kind.CHAT, authority=authority) as receiver:
        yield receiver


def settings(state: Path, receiver: NotificationReceiver | None) -> Mapping[str, str]:
    """The variables that make Headgate send messages of chat webhooks to the receiver, if there is one."""
    if receiver is None:
        return {}
    return {"HEADGATE_CHAT_WEBHOOK_HOST": receiver.address, "HEADGATE_CA_BUNDLE": str(_bundle(state).absolute())}


def _bundle(state: Path) -> Path:
    return state / "trusted.pem"
