"""What holds for the senders of all providers."""

import json
import logging

import pytest

from chalicelib.domain.alerts.channel import ChannelProvider
from chalicelib.errors import HeadgateError
from chalicelib.kit.clock import Deadline
from chalicelib.kit.masking import Secret
from chalicelib.notify.contract import Accepted, Ambiguous, Permanent, Transient
from chalicelib.notify.registry import PROVIDERS
from chalicelib.settings import Settings
from chalicelib.wiring import Clients
from infra.local.doubles.authority import Authority
from infra.local.doubles.notification_receivers import NotificationReceiver, Reply
from tests.support.alerting.notifications import HOOK_HOST, PUBLIC, message, recorded_dials, resolving, secrets, senders

PLANTED = {
    ChannelProvider.CHAT_WEBHOOK: {"webhook_url": "https://{chat}/services/planted-token"},
    ChannelProvider.BOT_CHAT: {"bot_token": "123:planted-token", "chat_id": "-100"},
    ChannelProvider.WEBHOOK: {
        "url": f"https://{HOOK_HOST}/planted-path?key=planted",
        "authorization": "Bearer planted",
        "headers": json.dumps({"X-Key": "planted"}),
        "signing_secret": "planted",
    },
}
REPLIES = [
    Reply(),
    Reply(status=302, body="planted", headers={"Location": "https://a.example/planted"}),
    Reply(status=401, body="planted"),
    Reply(status=500, body="planted", headers={"Set-Cookie": "planted"}),
    Reply(drop=True),
]


@pytest.mark.parametrize("reply", REPLIES, ids=lambda reply: f"{reply.status} drop={reply.drop}")
@pytest.mark.parametrize("provider", ChannelProvider)
def test_no_secret_and_no_text_of_the_answer_is_logged_or_returned(
    chat: NotificationReceiver,
    bot: NotificationReceiver,
    hook: NotificationReceiver,
    authority: Authority,
    caplog: pytest.LogCaptureFixture,
    capfd: pytest.CaptureFixture[str],
    provider: ChannelProvider,
    reply: Reply,
) -> None:
    for name in (None, "headgate"):
        caplog.set_level(logging.NOTSET + 1, logger=name)
    receiver = {ChannelProvider.CHAT_WEBHOOK: chat, ChannelProvider.BOT_CHAT: bot, ChannelProvider.WEBHOOK: hook}[
        provider
    ]
    receiver.script(reply)
    fields = {name: value.replace("{chat}", chat.address) for name, value in PLANTED[provider].items()}
    sending = senders(authority=authority, chat_host=chat.address, bot_host=bot.address)
    with recorded_dials({PUBLIC: hook.port}):
        outcome = sending[provider].send(message(), secrets(**fields), Deadline.after(10))
    assert len(receiver.received) == 1
    written = capfd.readouterr()
    assert "planted" not in repr(outcome) + caplog.text + written.out + written.err


@pytest.mark.parametrize("provider", ChannelProvider)
def test_no_exception_escapes_and_its_text_is_not_logged(
    provider: ChannelProvider, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    outcome = senders()[provider].send(message(), {"planted": Secret("planted")}, Deadline.after(1))
    assert isinstance(outcome, Transient)
    assert outcome.error.code == "internal"
    written = capfd.readouterr()
    assert "planted" not in caplog.text + written.out + written.err


@pytest.mark.parametrize("provider", ChannelProvider)
def test_without_time_nothing_is_sent(provider: ChannelProvider) -> None:
    fields = {name: value.replace("{chat}", "hooks.slack.com") for name, value in PLANTED[provider].items()}
    with recorded_dials() as dials:
        assert isinstance(senders()[provider].send(message(), secrets(**fields), Deadline.after(0)), Transient)
    assert dials == []


def test_a_provider_that_hangs_takes_no_more_than_the_time_that_is_left(
    chat: NotificationReceiver, authority: Authority
) -> None:
    chat.script(Reply(delay_seconds=30))
    sender = senders(authority=authority, chat_host=chat.address)[ChannelProvider.CHAT_WEBHOOK]
    deadline = Deadline.after(5)
    outcome = sender.send(message(), secrets(webhook_url=f"{chat.url}/services/T"), deadline)
    assert isinstance(outcome, Ambiguous)
    assert deadline.passed
    assert len(chat.received) == 1


@pytest.mark.parametrize("address", ["10.0.0.1", "127.0.0.1", "192.168.1.1"])
def test_hosts_that_the_installation_names_may_be_private(
    chat: NotificationReceiver, authority: Authority, address: str
) -> None:
    resolve = resolving({HOOK_HOST: [address]})
    sending = senders(authority=authority, chat_host=f"{HOOK_HOST}:{chat.port}", resolve=resolve)
    with recorded_dials({address: chat.port}) as dials:
        sending[ChannelProvider.CHAT_WEBHOOK].send(
            message(), secrets(webhook_url=f"https://{HOOK_HOST}:{chat.port}/services/T"), Deadline.after(10)
        )
    assert dials == [(address, chat.port)]


def test_a_metadata_service_is_no_host_of_a_chat_either() -> None:
    sender = senders(resolve=resolving({"hooks.slack.com": ["169.254.169.254"]}))[ChannelProvider.CHAT_WEBHOOK]
    with recorded_dials() as dials:
        outcome = sender.send(message(), secrets(webhook_url="https://hooks.slack.com/services/T"), Deadline.after(10))
    assert isinstance(outcome, Permanent)
    assert dials == []


@pytest.mark.parametrize("variable", ["HEADGATE_CHAT_WEBHOOK_HOST", "HEADGATE_BOT_API_HOST"])
@pytest.mark.parametrize(
    "host", ["https://hooks.slack.com", "hooks.slack.com/x", "a b", "a@b", "hooks.slack.com:0", "-"]
)
def test_a_setting_that_is_no_host_is_refused_at_the_start(variable: str, host: str) -> None:
    config = Settings.read({variable: host})
    with pytest.raises(ValueError, match=variable) as raised:
        Clients(config).senders(config)
    assert not isinstance(raised.value, HeadgateError)


def test_the_senders_as_they_are_wired_trust_the_installations_authority(
    chat: NotificationReceiver, authority: Authority, tmp_path_factory: pytest.TempPathFactory
) -> None:
    bundle = tmp_path_factory.mktemp("trust") / "authority.pem"
    bundle.write_text(authority.certificate)
    usual = {"HEADGATE_CHAT_WEBHOOK_HOST": chat.address}
    for variables, expected in ((usual, Transient), ({**usual, "HEADGATE_CA_BUNDLE": str(bundle)}, Accepted)):
        config = Settings.read(variables)
        sender = Clients(config).senders(config)[ChannelProvider.CHAT_WEBHOOK]
        outcome = sender.send(message(), secrets(webhook_url=f"{chat.url}/services/T"), Deadline.after(10))
        assert isinstance(outcome, expected)


def test_every_provider_has_a_sender_and_a_definition() -> None:
    assert senders().keys() == PROVIDERS.keys() == set(ChannelProvider)
