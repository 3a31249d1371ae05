"""Notification channels: what is stored, what is refused, and the test notification, sent to real receivers."""

import json
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

from chalicelib.domain.alerts.channel import Channel, ChannelProvider, ChannelValues, LastDelivery
from chalicelib.domain.alerts.notification import NotificationStatus
from chalicelib.domain.alerts.pacing import ChannelGate
from chalicelib.domain.alerts.rule import MAX_CHANNELS, AlertRuleValues
from chalicelib.errors import Conflict, Invalid, NotFound, RateLimited, VersionMismatch
from chalicelib.kit.masking import Secret
from chalicelib.services.alerts.channels import ChannelService
from chalicelib.stores.transaction import Transaction
from infra.local.doubles.authority import Authority
from infra.local.doubles.notification_receivers import Kind, NotificationReceiver, Reply, bot_refusal
from tests.support.alerting.notifications import HOOK_HOST, PUBLIC, recorded_dials, secrets, senders
from tests.support.apps.in_process_app import ADMIN, InProcessApp

URL = f"https://{HOOK_HOST}/in"
WEBHOOK, CHAT, BOT = ChannelProvider.WEBHOOK, ChannelProvider.CHAT_WEBHOOK, ChannelProvider.BOT_CHAT
TOKEN = "123456:planted-bot-token"


@pytest.fixture(scope="module")
def authority() -> Authority:
    return Authority()


@pytest.fixture
def hook(authority: Authority) -> Iterator[NotificationReceiver]:
    receiver = NotificationReceiver(Kind.WEBHOOK, authority=authority, hosts=(HOOK_HOST,))
    with receiver, recorded_dials({PUBLIC: receiver.port}):
        yield receiver


@pytest.fixture
def bot(authority: Authority) -> Iterator[NotificationReceiver]:
    with NotificationReceiver(Kind.BOT, authority=authority) as receiver:
        yield receiver


@pytest.fixture
def channels(app: InProcessApp, authority: Authority, bot: NotificationReceiver) -> ChannelService:
    """The service with senders that use the test's network."""
    return replace(app.services.alerting.channels, senders=senders(authority=authority, bot_host=bot.address))


@pytest.fixture
def channel(app: InProcessApp, channels: ChannelService) -> Channel:
    """A webhook without other secrets than its URL."""
    return channels.create(app.context(), *given(url=URL))


def given(
    provider: ChannelProvider = WEBHOOK, name: str = "ops", *, enabled: bool = True, **fields: str
) -> tuple[ChannelValues, Mapping[str, Secret]]:
    return ChannelValues(name=name, provider=provider, enabled=enabled), secrets(**fields)


def locations(raised: "pytest.ExceptionInfo[Invalid]") -> list[tuple[Sequence[str], str]]:
    assert isinstance(raised.value.details, Sequence)
    return [(detail["location"], detail["type"]) for detail in raised.value.details]


def sent(
    app: InProcessApp, channels: ChannelService, hook: NotificationReceiver, channel: Channel
) -> Mapping[str, str]:
    """The headers of a test notification that arrives."""
    app.clock.advance(5)
    assert channels.test(app.context(), channel.id) is None
    return hook.received[-1].headers


# what is stored


def test_a_channel_shows_scheme_and_host_only(app: InProcessApp, channels: ChannelService) -> None:
    created = channels.create(app.context(), *given(url=URL + "/planted?key=planted", authorization="Bearer planted"))
    assert created.mask == f"https://{HOOK_HOST}/********"
    assert channels.get(created.id) == created
    assert "planted" not in repr((created, app.audit_records(created.id)))
    assert set(created.credentials.fields) == {"url", "authorization"}


@pytest.mark.parametrize(
    ("provider", "fields", "missing"),
    [
        (WEBHOOK, {}, ["url"]),
        (WEBHOOK, {"url": "", "authorization": "x"}, ["url"]),
        (CHAT, {}, ["webhook_url"]),
        (BOT, {}, ["bot_token", "chat_id"]),
        (BOT, {"bot_token": TOKEN}, ["chat_id"]),
    ],
)
def test_what_a_channel_cannot_do_without_has_to_be_given(
    app: InProcessApp, channels: ChannelService, provider: ChannelProvider, fields: dict[str, str], missing: list[str]
) -> None:
    with pytest.raises(Invalid) as raised:
        channels.create(app.context(), *given(provider, **fields))
    assert locations(raised) == [(["body", "config", field], "missing") for field in missing]


@pytest.mark.parametrize(
    ("provider", "field", "url", "rule"),
    [
        (WEBHOOK, "url", "http://hooks.example.com/", "url_scheme"),
        (WEBHOOK, "url", "https://localhost.localdomain/", "address_not_allowed"),
        (WEBHOOK, "url", "https://10.0.0.1/", "address_not_allowed"),
        (CHAT, "webhook_url", "https://evil.example/services/T", "url_other_host"),
    ],
)
def test_a_url_that_is_not_allowed_is_refused_and_not_repeated(
    app: InProcessApp, channels: ChannelService, provider: ChannelProvider, field: str, url: str, rule: str
) -> None:
    with pytest.raises(Invalid) as raised:
        channels.create(app.context(), *given(provider, **{field: url}))
    assert raised.value.code == "URL_NOT_ALLOWED"
    assert locations(raised) == [(["body", "config", field], rule)]
    assert url not in repr((raised.value, raised.value.details))
    assert channels.list(limit=10, after=None).items == ()


def test_blank_secrets_stay_and_new_ones_rotate(
    app: InProcessApp, channels: ChannelService, hook: NotificationReceiver
) -> None:
    channel = channels.create(app.context(), *given(url=URL, authorization="Bearer first"))
    assert sent(app, channels, hook, channel)["authorization"] == "Bearer first"
    kept = channels.update(app.context(), channel.id, *given(name="new name", enabled=False, url="", authorization=""))
    assert (kept.name, kept.enabled, kept.version) == ("new name", False, 2)
    assert sent(app, channels, hook, kept)["authorization"] == "Bearer first"
    rotated = channels.update(app.context(), channel.id, *given(authorization="Bearer second"))
    assert sent(app, channels, hook, rotated)["authorization"] == "Bearer second"
    assert "Bearer" not in repr(app.audit_records(channel.id))


def test_another_url_inherits_no_secret(
    app: InProcessApp, channels: ChannelService, hook: NotificationReceiver
) -> None:
    headers = json.dumps({"X-Key": "planted"})
    secret = {"authorization": "Bearer planted", "headers": headers, "signing_secret": "planted"}
    channel = channels.create(app.context(), *given(url=URL, **secret))
    for partly in ({}, {"authorization": "Bearer new"}, {"authorization": "x", "headers": headers}):
        with pytest.raises(Invalid) as raised:
            channels.update(app.context(), channel.id, *given(url=URL + "/other", **partly))
        expected = sorted(secret.keys() - partly.keys())
        assert locations(raised) == [(["body", "config", name], "required_for_new_target") for name in expected]
    assert channels.get(channel.id).version == 1
    moved = channels.update(app.context(), channel.id, *given(url=URL + "/other", **secret))
    sent(app, channels, hook, moved)
    assert hook.received[-1].path == "/in/other"


def test_the_same_url_in_another_spelling_is_no_other_url(
    app: InProcessApp, channels: ChannelService, hook: NotificationReceiver
) -> None:
    channel = channels.create(app.context(), *given(url=URL, authorization="Bearer first"))
    same = channels.update(app.context(), channel.id, *given(url="HTTPS://Hooks.Example.COM.:443/in"))
    assert sent(app, channels, hook, same)["authorization"] == "Bearer first"


def test_another_chat_of_the_same_bot_keeps_its_token(
    app: InProcessApp, channels: ChannelService, bot: NotificationReceiver
) -> None:
    channel = channels.create(app.context(), *given(BOT, bot_token=TOKEN, chat_id="-100123"))
    assert channel.mask == f"https://{bot.address.partition(':')[0]}/********"
    channels.update(app.context(), channel.id, *given(BOT, chat_id="-100456"))
    channels.test(app.context(), channel.id)
    assert (bot.received[0].path, bot.received[0].json["chat_id"]) == (f"/bot{TOKEN}/sendMessage", -100456)


def test_secrets_that_cannot_be_opened_are_given_again_all_together(
    app: InProcessApp, channels: ChannelService, hook: NotificationReceiver
) -> None:
    channel = channels.create(app.context(), *given(url=URL, authorization="Bearer first"))
    store = app.services.stores.resources.secrets
    row = store.get(channel.credentials.id)
    store.save_alone(replace(row, sealed={**row.sealed, "url": row.sealed["authorization"]}))
    error = channels.test(app.context(), channel.id)
    assert error
    assert error.code == "secret_unreadable"
    with pytest.raises(Invalid) as raised:
        channels.update(app.context(), channel.id, *given(url=URL))
    assert locations(raised) == [(["body", "config", "authorization"], "required_for_new_target")]
    again = channels.update(app.context(), channel.id, *given(url=URL, authorization="Bearer second"))
    assert sent(app, channels, hook, again)["authorization"] == "Bearer second"


def test_a_channel_stays_with_its_provider(app: InProcessApp, channels: ChannelService, channel: Channel) -> None:
    with pytest.raises(Invalid) as raised:
        channels.update(app.context(), channel.id, *given(BOT, bot_token=TOKEN, chat_id="1"))
    assert locations(raised) == [(["body", "provider"], "immutable")]


def test_a_change_of_an_older_version_is_refused(app: InProcessApp, channels: ChannelService, channel: Channel) -> None:
    channels.update(app.context(if_match=1), channel.id, *given(name="new"))
    with pytest.raises(VersionMismatch):
        channels.update(app.context(if_match=1), channel.id, *given(name="newer"))
    with pytest.raises(VersionMismatch):
        channels.delete(app.context(if_match=1), channel.id)


def test_there_is_a_limit_of_channels(app: InProcessApp, channels: ChannelService) -> None:
    for number in range(MAX_CHANNELS):
        channels.create(
            app.context(), *given(CHAT, f"c{number}", webhook_url=f"https://hooks.slack.com/services/{number}")
        )
    with pytest.raises(Conflict) as raised:
        channels.create(app.context(), *given(url=URL, name="one more"))
    assert "limit" in raised.value.message


def test_a_channel_that_a_rule_names_stays(app: InProcessApp, channels: ChannelService) -> None:
    channel, rules = channels.create(app.context(), *given(url=URL)), app.services.alerting.rules
    rule = rules.create(app.context(), AlertRuleValues(name="rule", channel_ids=(channel.id,)))
    with pytest.raises(Conflict) as raised:
        channels.delete(app.context(), channel.id)
    assert raised.value.code == "RESOURCE_IN_USE"
    rules.delete(app.context(), rule.id)
    channels.delete(app.context(), channel.id)
    with pytest.raises(NotFound):
        channels.get(channel.id)
    assert app.services.stores.resources.secrets.find(channel.credentials.id) is None
    actions = {record.action for record in app.audit_records(channel.id)}
    assert actions == {"notification_channel.create", "notification_channel.delete"}


def test_a_channel_says_how_its_newest_message_ended(
    app: InProcessApp, channels: ChannelService, channel: Channel
) -> None:
    assert channel.last_delivery is None
    gate, transaction = ChannelGate(id=channel.id, created_at=app.clock.now), Transaction()
    ended = replace(gate, last_status=NotificationStatus.FAILED, last_at=app.clock.now)
    app.services.stores.alerts.gates.put_new(transaction, ended)
    transaction.commit()
    expected = LastDelivery(status="failed", at=app.clock.now)
    assert channels.get(channel.id).last_delivery == expected
    assert [channel.last_delivery for channel in channels.list(limit=10, after=None).items] == [expected]


# the test notification


def test_a_test_notification_arrives_and_is_audited(
    app: InProcessApp, channels: ChannelService, hook: NotificationReceiver
) -> None:
    channel = channels.create(app.context(), *given(url=URL, enabled=False))
    assert channels.test(app.context(), channel.id) is None
    assert [request.json["event"] for request in hook.received] == ["TEST_NOTIFICATION"]
    tests = [record for record in app.audit_records(channel.id) if record.action == "notification_channel.test"]
    assert {(record.outcome.value, record.actor_id) for record in tests} == {
        ("requested", ADMIN.id),
        ("success", ADMIN.id),
    }
    assert channels.get(channel.id).version == 1
    assert app.services.stores.alerts.gates.find(channel.id) is None
    assert list(app.services.stores.alerts.notifications.all()) == []


def test_a_test_notification_that_is_refused_says_why(
    app: InProcessApp, channels: ChannelService, hook: NotificationReceiver
) -> None:
    channel = channels.create(app.context(), *given(url=URL + "/planted"))
    hook.script(Reply(status=403, body="planted body"))
    error = channels.test(app.context(), channel.id)
    assert error
    assert error.code == "unauthorized"
    assert "Enter a new secret" in str(error.hint)
    assert "failed" in {record.outcome.value for record in app.audit_records(channel.id)}
    assert "planted" not in repr((error, app.audit_records(channel.id)))
    assert len(hook.received) == 1


def test_one_test_notification_in_five_seconds(
    app: InProcessApp, channels: ChannelService, hook: NotificationReceiver
) -> None:
    channel, other = (channels.create(app.context(), *given(url=URL, name=name)) for name in ("one", "two"))
    channels.test(app.context(), channel.id)
    app.clock.advance(3.5)
    with pytest.raises(RateLimited) as raised:
        channels.test(app.context(), channel.id)
    assert raised.value.retry_after_seconds == 2
    channels.test(app.context(), other.id)
    app.clock.advance(1.5)
    channels.test(app.context(), channel.id)
    assert len(hook.received) == 3


def test_the_limit_holds_in_every_process(
    app: InProcessApp, channels: ChannelService, hook: NotificationReceiver, channel: Channel
) -> None:
    channels.test(app.context(), channel.id)
    app.restart()
    with pytest.raises(RateLimited):
        app.services.alerting.channels.test(app.context(), channel.id)
    assert len(hook.received) == 1


def test_two_requests_at_the_same_moment_send_one_test_notification(
    app: InProcessApp, channels: ChannelService, hook: NotificationReceiver, channel: Channel
) -> None:

    def send(_number: int) -> str:
        try:
            return "failed" if channels.test(app.context(), channel.id) else "delivered"
        except RateLimited:
            return "limited"

    with ThreadPoolExecutor(4) as pool:
        assert sorted(pool.map(send, range(4))) == ["delivered", "limited", "limited", "limited"]
    assert len(hook.received) == 1


def test_a_group_that_became_another_one_is_stored_and_audited(
    app: InProcessApp, channels: ChannelService, bot: NotificationReceiver
) -> None:
    channel = channels.create(app.context(), *given(BOT, bot_token=TOKEN, chat_id="-100123"))
    bot.script(bot_refusal(400, "group chat was upgraded", migrate_to_chat_id=-1009876543210))
    assert channels.test(app.context(), channel.id) is None
    app.clock.advance(5)
    channels.test(app.context(), channel.id)
    chats = [request.json["chat_id"] for request in bot.received]
    assert chats == [-100123, -1009876543210, -1009876543210]
    [migration] = [
        record for record in app.audit_records(channel.id) if record.action == "notification_channel.migrate"
    ]
    assert (migration.actor_via, migration.after) == ("system", {"fields": ["chat_id"]})
    assert channels.get(channel.id).version == 2
