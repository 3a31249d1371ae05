"""The senders of notifications as they are wired, and receivers on this machine behind them.

    def test_something(world: AlertingApi, network: Network) -> None:
        channel = network.channel(WEBHOOK)
        network.hook.script(Reply(status=500))

Receivers have the test's clock.
"""

from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

import pytest

from infra.local.doubles.authority import Authority
from infra.local.doubles.notification_receivers import Kind, NotificationReceiver
from tests.support.alerting.api import BOT, CHAT, WEBHOOK, AlertingApi
from tests.support.alerting.notifications import HOOK_HOST, PUBLIC, recorded_dials, senders

Json = dict[str, Any]
URL = f"https://{HOOK_HOST}/in?key=planted"
TOKEN = "123456:planted-bot-token"


@dataclass(kw_only=True)
class Network:
    """One receiver for each provider of channels."""

    world: AlertingApi
    chat: NotificationReceiver
    bot: NotificationReceiver
    hook: NotificationReceiver

    def config(self, provider: str) -> Json:
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
        return dict(self.world.ok("POST", "/notification-channels", self.body(provider, **config)))

    def test_of(self, channel: Json) -> Json:
        self.world.driver.run(seconds=5)
        return dict(self.world.ok("POST", f"/notification-channels/{channel['id']}/test"))


@pytest.fixture
def network(world: AlertingApi) -> Iterator[Network]:
    """Receivers on this machine instead of scripted providers."""
    authority = Authority()
    with ExitStack() as ends:

        def receiver(kind: Kind, *hosts: str) -> NotificationReceiver:
            return ends.enter_context(
                NotificationReceiver(kind, authority=authority, hosts=hosts, clock=world.app.clock)
            )

        chat, bot, hook = receiver(Kind.CHAT), receiver(Kind.BOT), receiver(Kind.WEBHOOK, HOOK_HOST)
        ends.enter_context(recorded_dials({PUBLIC: hook.port}))
        world.app.senders = senders(
            authority=authority, chat_host=chat.address, bot_host=bot.address, public_url="https://headgate.example.com"
        )
        world.app.restart()
        yield Network(world=world, chat=chat, bot=bot, hook=hook)
