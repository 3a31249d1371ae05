"""Senders of notifications, with the network under control: names resolve as a test says, and every connection counts.

with recorded_dials({PUBLIC: receiver.port}) as dials:
    senders(resolve=resolving({"hooks.example.com": [PUBLIC]}), authority=authority)[provider].send(...)
assert dials == [(PUBLIC, 443)]
"""

import ipaddress
import socket
import ssl
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from datetime import UTC, datetime
from functools import cache, partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from unittest.mock import patch

import httpcore

from chalicelib.clients.http.addresses import AddressPolicy, Resolve
from chalicelib.clients.http.guarded import GuardedHttp
from chalicelib.domain.alerts.channel import ChannelProvider
from chalicelib.domain.alerts.kinds import AlertSeverity
from chalicelib.domain.alerts.notification import MessageContent, MessageKind, Notification
from chalicelib.domain.event_kind import EventKind
from chalicelib.kit.masking import Secret
from chalicelib.notify import registry
from chalicelib.notify.contract import MessageLine, OutgoingMessage, Sender, SenderTools
from chalicelib.settings import Settings
from infra.local.doubles.authority import Authority
from infra.local.doubles.notification_receivers import Kind, NotificationReceiver

PUBLIC = "93.184.215.14"
"""An address of the public network. No test connects to it: connections to it are led to a receiver."""

HOOK_HOST = "hooks.example.com"
NOW = datetime(2026, 1, 31, 12, tzinfo=UTC)
DELIVERY_ID = "6c9de1b9-55d2-4d4b-9c1a-0f4b8b1a2c3d"
Dial = tuple[str, int]


def resolving(names: Mapping[str, Sequence[str]]) -> Resolve:
    """A resolver that knows these names, and every spelling of an address that the system's resolver takes."""

    def resolve(host: str | bytes) -> Sequence[str]:
        name = host.decode() if isinstance(host, bytes) else host
        with suppress(ValueError):
            return [str(ipaddress.ip_address(name))]
        with suppress(OSError):
            return [socket.inet_ntoa(socket.inet_aton(name))]  # such as 127.1, 0x7f000001 and 2130706433
        if name not in names:
            raise OSError("no such host")
        return names[name]

    return resolve


@contextmanager
def recorded_dials(routes: Mapping[str, int] | None = None) -> Iterator[list[Dial]]:
    """Every address and port that is connected to. `routes` leads addresses to ports on loopback; a connection to
    loopback itself is made, and any other is refused.
    """
    dials: list[Dial] = []
    real = httpcore.SyncBackend.connect_tcp

    def connect_tcp(backend: httpcore.SyncBackend, host: str, port: int, *more: Any, **options: Any) -> Any:
        dials.append((host, port))
        if host in (routes or {}):
            return real(backend, "127.0.0.1", (routes or {})[host], *more, **options)
        if ipaddress.ip_address(host).is_loopback:
            return real(backend, host, port, *more, **options)
        raise httpcore.ConnectError("refused by the test")

    with patch.object(httpcore.SyncBackend, "connect_tcp", connect_tcp):
        yield dials


@cache
def _trusting(certificate: str | None) -> ssl.SSLContext:
    return ssl.create_default_context(cadata=certificate)


def senders(
    *,
    resolve: Resolve | None = None,
    authority: Authority | None = None,
    chat_host: str = "hooks.slack.com",
    bot_host: str = "api.telegram.org",
    public_url: str | None = None,
    allow_private: bool = False,
) -> Mapping[ChannelProvider, Sender]:
    """The senders as they are wired, with this resolver and with trust in this authority.

    `allow_private` takes the rule for webhooks away, for tests that have to see a difference.
    """
    tls = partial(_trusting, authority.certificate if authority else None)
    resolver = resolve or resolving({HOOK_HOST: [PUBLIC]})
    public = AddressPolicy(allow_loopback=allow_private, allow_private=allow_private, resolve=resolver)
    operators = AddressPolicy(allow_loopback=True, resolve=resolver)
    hosts = {"HEADGATE_CHAT_WEBHOOK_HOST": chat_host, "HEADGATE_BOT_API_HOST": bot_host}
    tools = SenderTools(
        settings=Settings.read({**hosts, "HEADGATE_PUBLIC_URL": public_url or ""}),
        to_operators_hosts=partial(GuardedHttp, check_host=operators, tls=tls, cut_answers=True),
        to_public_hosts=partial(GuardedHttp, check_host=public, tls=tls, cut_answers=True),
        check_public=public,
    )
    return registry.senders(tools)


def content(**changes: Any) -> MessageContent:
    """What a message says about a task that failed."""
    usual: dict[str, Any] = {
        "alert_id": "0d1a5bd6-6a3c-4a52-9f6e-2c1b7a9e4f10",
        "event": EventKind.CONNECT_TASK_FAILED,
        "severity": AlertSeverity.CRITICAL,
        "kind": MessageKind.FIRING,
        "at": NOW,
        "emitter_type": "connect_cluster",
        "emitter_name": "workers",
        "pipeline_id": "5b0f1c52-8f57-4f0b-9a6f-7a3e5f7f1f11",
        "pipeline_name": "orders",
        "connector_name": "headgate-source-1",
        "task_id": 0,
        "error": "A row does not fit a constraint of the target table.",
        "hint": "Correct the row or the constraint, then restart the task.",
        "first_seen_at": NOW,
    }
    return MessageContent(**{**usual, **changes})


def notification(message_content: MessageContent | None = None, **changes: Any) -> Notification:
    """A queued message with this content, by default the usual one, to a webhook."""
    message_content = message_content or content()
    usual: dict[str, Any] = {
        "id": DELIVERY_ID,
        "alert_id": message_content.alert_id,
        "channel_id": "c1c5a3c0-0c39-4a56-8a3c-9f0d3a1f5c11",
        "channel_name": "on call",
        "provider": ChannelProvider.WEBHOOK,
        "rule_ids": (),
        "kind": message_content.kind,
        "sequence": 1,
        "content": message_content,
        "next_attempt_at": message_content.at,
        "created_at": message_content.at,
    }
    return Notification(**{**usual, **changes})


def message(*contents: MessageContent, **more: Any) -> OutgoingMessage:
    """A message about these alerts, by default the usual one."""
    lines = tuple(MessageLine(content=line) for line in contents or (content(),))
    return OutgoingMessage(**{"delivery_id": DELIVERY_ID, "attempt_at": NOW, "lines": lines, **more})


def secrets(**fields: str) -> Mapping[str, Secret]:
    return {name: Secret(value) for name, value in fields.items()}


def chat_receivers(ends: ExitStack) -> tuple[NotificationReceiver, NotificationReceiver, Mapping[str, str]]:
    """A chat webhook and a bot API, and the settings by which a Headgate uses and trusts them."""
    authority, bundle = Authority(), Path(ends.enter_context(TemporaryDirectory()), "authority.pem")
    bundle.write_text(authority.certificate)
    chat, bot = (ends.enter_context(NotificationReceiver(kind, authority=authority)) for kind in (Kind.CHAT, Kind.BOT))
    hosts = {"HEADGATE_CHAT_WEBHOOK_HOST": chat.address, "HEADGATE_BOT_API_HOST": bot.address}
    return chat, bot, {**hosts, "HEADGATE_CA_BUNDLE": str(bundle)}
