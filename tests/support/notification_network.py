"""The senders of notifications as they are wired, and receivers on this machine behind them.

    def test_something(world: AlertingApi, network: Network) -> None:
        channel = network.channel(WEBHOOK)
        network.hook.script(Reply(status=500))

Receivers have the test's clock. The names of webhooks resolve as `network.names` says.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Any

import httpx
import pytest

from chalicelib.domain.alerts.channel import ChannelProvider
from chalicelib.domain.alerts.urls import TargetUrl
from chalicelib.kit.clock import Deadline
from chalicelib.kit.masking import Secret
from chalicelib.notify.contract import Outcome, OutgoingMessage, Sender
from infra.local.doubles.authority import Authority
from infra.local.doubles.notification_receivers import Kind, NotificationReceiver
from tests.support.alerting_api import BOT, CHAT, WEBHOOK, AlertingApi
from tests.support.notifications import HOOK_HOST, PUBLIC, Dial, recorded_dials, resolving, senders

Json = dict[str, Any]
URL = f"https://{HOOK_HOST}/in?key=planted"
TOKEN = "123456:planted-bot-token"


@dataclass(kw_only=True)
class Network:
    """Receivers, what names resolve to, and every address that was connected to. The next answers of the name
    server are `answers`; after them `names` has what a name resolves to.

    `after_send` runs once, in the worker, when a message was sent.
    """

    world: AlertingApi
    chat: NotificationReceiver
    bot: NotificationReceiver
    hook: NotificationReceiver
    dials: list[Dial] = field(default_factory=list)
    names: dict[str, Sequence[str]] = field(default_factory=lambda: {HOOK_HOST: [PUBLIC]})
    answers: list[Sequence[str]] = field(default_factory=list)
    after_send: Callable[[], object] | None = None

    @property
    def contacted(self) -> list[Dial]:
        """Every address that a sender has connected to."""
        workers = httpx.URL(self.world.app.connect.url).port
        return [dial for dial in self.dials if dial[1] != workers]

    def config(self, provider: str) -> Json:
        """The config of a channel."""
        configs: Mapping[str, Json] = {
            CHAT: {"webhook_url": f"{self.chat.url}/services/planted"},
            BOT: {"bot_token": TOKEN, "chat_id": -100123},
            WEBHOOK: {"url": URL},
        }
        return configs[provider]

    def body(self, provider: str = WEBHOOK, **config: Any) -> Json:
        """The body that creates or changes a channel."""
        return {"name": provider, "provider": provider, "config": {**self.config(provider), **config}}

    def channel(self, provider: str = WEBHOOK, **config: Any) -> Json:
        """A new channel."""
        return dict(self.world.ok("POST", "/notification-channels", self.body(provider, **config)))

    def test_of(self, channel: Json) -> Json:
        """The answer to a test notification."""
        self.world.run(5)
        return dict(self.world.ok("POST", f"/notification-channels/{channel['id']}/test"))

    def resolve(self, host: str) -> Sequence[str]:
        """What the name server answers."""
        return self.answers.pop(0) if self.answers else resolving(self.names)(host)


@dataclass(frozen=True)
class _Watched:
    """A sender after which `Network.after_send` happens."""

    sender: Sender
    network: Network

    def address(self, secrets: Mapping[str, Secret]) -> TargetUrl:
        return self.sender.address(secrets)

    def send(self, message: OutgoingMessage, secrets: Mapping[str, Secret], deadline: Deadline) -> Outcome:
        outcome = self.sender.send(message, secrets, deadline)
        act, self.network.after_send = self.network.after_send, None
        if act:
            act()
        return outcome


@pytest.fixture
def network(world: AlertingApi) -> Iterator[Network]:
    """Receivers on this machine instead of scripted providers."""
    authority = Authority()
    with ExitStack() as ends:

        def receiver(kind: Kind, *hosts: str) -> NotificationReceiver:
            one = NotificationReceiver(kind, authority=authority, hosts=hosts, clock=world.app.clock)
            return ends.enter_context(one)

        chat, bot, hook = receiver(Kind.CHAT), receiver(Kind.BOT), receiver(Kind.WEBHOOK, HOOK_HOST)
        made = Network(world=world, chat=chat, bot=bot, hook=hook)
        made.dials = ends.enter_context(recorded_dials({PUBLIC: hook.port}))
        real = senders(
            resolve=made.resolve, authority=authority, chat_host=chat.address, bot_host=bot.address,
            public_url="https://headgate.example.com",
        )  # fmt: skip
        world.app.senders = {provider: _Watched(real[provider], made) for provider in ChannelProvider}
        world.app.restart()
        yield made
