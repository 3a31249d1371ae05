"""Notification channels over HTTP, with a chat webhook and a bot API on this machine."""

from collections.abc import Iterator
from typing import Any

import pytest

from infra.local.doubles.notification_receivers import Reply
from tests.support.api_assertions import assert_error
from tests.support.apps.sandbox import Api, Json, Sandbox

PATH = "/notification-channels"
TOKEN = "123456:planted-token-of-the-bot"
HOOK = "https://93.184.215.14/planted-path"
"""An address, so that nothing is looked up. Nothing is sent there: no test sends to a webhook over the network."""


@pytest.fixture
def made(sandbox: Sandbox) -> Iterator[list[str]]:
    """The ids of channels to delete: there is a limit of them."""
    ids: list[str] = []
    yield ids
    for channel_id in ids:
        sandbox.admin.delete(f"{PATH}/{channel_id}")


IDLE = {"delivery_state": "open", "oldest_waiting_seconds": None}
"""What all but the list say of a channel that has nothing to send."""


def chat_body(sandbox: Sandbox, **changes: Any) -> Json:
    config = {"webhook_url": f"{sandbox.chat.url}/services/T0/B0/planted-webhook-token"}
    return {"name": sandbox.name("channel"), "provider": "chat-webhook", "config": config, **changes}


def bot_body(sandbox: Sandbox, **changes: Any) -> Json:
    config = {"bot_token": TOKEN, "chat_id": -100123}
    return {"name": sandbox.name("channel"), "provider": "bot-chat", "config": config, **changes}


def hook_body(sandbox: Sandbox, config: Json | None = None, **changes: Any) -> Json:
    config = {"url": HOOK, **(config or {})}
    return {"name": sandbox.name("channel"), "provider": "webhook", "config": config, **changes}


def create(sandbox: Sandbox, made: list[str], body: Json) -> Json:
    created = sandbox.admin.post_ok(PATH, body)
    made.append(created["id"])
    return created


def test_a_channel_is_created_shown_changed_and_deleted(sandbox: Sandbox, made: list[str]) -> None:
    body = chat_body(sandbox)
    response = sandbox.admin.post(PATH, body)
    created = response.json()
    made.append(created["id"])
    assert (response.status_code, response.headers["location"]) == (201, f"/api/v1{PATH}/{created['id']}")
    assert created == {
        "id": created["id"],
        "name": body["name"],
        "labels": {},
        "provider": "chat-webhook",
        "enabled": True,
        "credentials": {"configured": True, "mask": "https://127.0.0.1/********"},
        "last_delivery": None,
        "version": 1,
        "created_at": created["created_at"],
        "updated_at": created["created_at"],
        **IDLE,
    }
    path = f"{PATH}/{created['id']}"
    assert sandbox.admin.get_ok(path) == created
    assert {name: value for name, value in created.items() if name not in IDLE} in sandbox.admin.get_ok(PATH)
    changed = sandbox.admin.put(path, {**body, "enabled": False}, headers={"If-Match": '"1"'})
    assert (changed.status_code, changed.json()["version"], changed.json()["enabled"]) == (200, 2, False)
    assert sandbox.admin.get_ok(path) == changed.json()
    assert_error(sandbox.admin.put(path, body, headers={"If-Match": '"1"'}), 412, "VERSION_MISMATCH")
    assert sandbox.admin.delete(path).status_code == 204
    assert_error(sandbox.admin.get(path), 404, "NOT_FOUND")


def test_a_test_notification_that_is_refused_is_an_answer(sandbox: Sandbox, made: list[str]) -> None:
    sandbox.chat.reset()
    sandbox.chat.script(Reply(status=403, body="invalid_token"))
    channel = create(sandbox, made, chat_body(sandbox))
    answer = sandbox.admin.post_ok(f"{PATH}/{channel['id']}/test", status=200)
    assert (answer["delivered"], answer["status"], answer["error"]["code"]) == (False, "failed", "unauthorized")


@pytest.mark.parametrize("kind", ["chat", "bot"])
def test_a_test_notification_arrives(sandbox: Sandbox, made: list[str], kind: str) -> None:
    receiver, body = {"chat": (sandbox.chat, chat_body), "bot": (sandbox.bot, bot_body)}[kind]
    receiver.reset()
    channel = create(sandbox, made, body(sandbox))
    answer = sandbox.admin.post_ok(f"{PATH}/{channel['id']}/test", status=200)
    assert answer == {"delivered": True, "status": "delivered", "error": None}
    assert [text.startswith("This is a test notification") for text in receiver.texts()] == [True]
    again = sandbox.admin.post(f"{PATH}/{channel['id']}/test")
    assert_error(again, 429, "RATE_LIMITED")
    assert 1 <= int(again.headers["retry-after"]) <= 5


def unsaved(body: Json) -> Json:
    return {"provider": body["provider"], "config": body["config"]}


def admin_of_the_test(sandbox: Sandbox) -> Api:
    """An Admin whose tests nobody has counted yet."""
    return sandbox.signed_in(sandbox.make_user("Admin")[1])


@pytest.mark.parametrize("kind", ["chat", "bot"])
def test_a_config_is_tested_before_it_is_stored(sandbox: Sandbox, kind: str) -> None:
    receiver, body = {"chat": (sandbox.chat, chat_body), "bot": (sandbox.bot, bot_body)}[kind]
    receiver.reset()
    admin, before = admin_of_the_test(sandbox), sandbox.ids(PATH)
    answer = admin.post_ok(f"{PATH}/test", unsaved(body(sandbox)), status=200)
    assert answer == {"delivered": True, "status": "delivered", "error": None}
    assert [text.startswith("This is a test notification") for text in receiver.texts()] == [True]
    assert sandbox.ids(PATH) == before


def test_a_config_that_does_not_work_is_an_answer_with_a_hint(sandbox: Sandbox) -> None:
    sandbox.chat.reset()
    sandbox.chat.script(Reply(status=403, body="invalid_token"))
    answer = admin_of_the_test(sandbox).post_ok(f"{PATH}/test", unsaved(chat_body(sandbox)), status=200)
    assert (answer["delivered"], answer["status"]) == (False, "failed")
    assert (answer["error"]["code"], bool(answer["error"]["hint"])) == ("unauthorized", True)


def test_one_test_before_storing_is_sent_in_five_seconds_to_each_provider(sandbox: Sandbox) -> None:
    admin = admin_of_the_test(sandbox)
    for body in (chat_body, bot_body):
        assert admin.post(f"{PATH}/test", unsaved(body(sandbox))).status_code == 200
    sandbox.chat.reset()
    again = admin.post(f"{PATH}/test", unsaved(chat_body(sandbox)))
    assert_error(again, 429, "RATE_LIMITED")
    assert (int(again.headers["retry-after"]), list(sandbox.chat.texts())) == (5, [])
    other = admin_of_the_test(sandbox)
    assert other.post(f"{PATH}/test", unsaved(chat_body(sandbox))).status_code == 200


@pytest.mark.parametrize(
    ("body", "location", "code"),
    [
        ({"provider": "webhook", "config": {"url": "https://10.0.0.1/"}}, ["body", "config", "url"], "URL_NOT_ALLOWED"),
        (
            {"provider": "chat-webhook", "config": {"webhook_url": "https://elsewhere.example.com/x"}},
            ["body", "config", "webhook_url"],
            "URL_NOT_ALLOWED",
        ),
        ({"provider": "webhook", "config": {}}, ["body", "config", "url"], "VALIDATION_FAILED"),
        ({"provider": "webhook"}, ["body", "config"], "VALIDATION_FAILED"),
        ({"provider": "webhook", "config": {"url": HOOK}, "name": "x"}, ["body", "name"], "VALIDATION_FAILED"),
        ({"provider": "fax", "config": {}}, ["body", "provider"], "VALIDATION_FAILED"),
    ],
)
def test_a_test_before_storing_passes_the_guards_of_a_stored_channel(
    sandbox: Sandbox, body: Json, location: list[str], code: str
) -> None:
    detail, *_ = assert_error(sandbox.admin.post(f"{PATH}/test", body), 422, code)
    assert detail["location"] == location


@pytest.mark.parametrize("role", ["Viewer", "Ops"])
def test_only_admins_test_a_config(sandbox: Sandbox, role: str) -> None:
    refused = sandbox.with_role(role).post(f"{PATH}/test", unsaved(chat_body(sandbox)))
    assert_error(refused, 403, "FORBIDDEN")


@pytest.mark.parametrize(
    ("config", "kind"),
    [
        ({"headers": {"host": "x"}}, "header_not_allowed"),
        ({"headers": {"X-A": "a\r\nHost: b"}}, "header_value"),
        ({"headers": {"X-A\r\nHost": "a"}}, "header_name"),
        ({"headers": {"X-A": 1}}, "string_type"),
        ({"headers": "X-A: a"}, "dict_type"),
        ({"headers": {f"X-{n}": "a" for n in range(21)}}, "headers_too_long"),
        ({"authorization": "Bearer a\r\nHost: b"}, "header_value"),
        ({"signing_secret": "whsec_???"}, "signing_secret"),
        ({"url": ""}, "missing"),
        ({"url": None}, "missing"),
        ({"url": 7}, "string_type"),
        ({"webhook_url": HOOK}, "extra_forbidden"),
        ({"authorization": "${env:X}"}, "secret_reference_not_allowed"),
        ({"headers": {"X-${a}": "a"}}, "secret_reference_not_allowed"),
    ],
)
def test_a_config_that_cannot_work_is_refused_where_it_is_wrong(sandbox: Sandbox, config: Json, kind: str) -> None:
    response = sandbox.admin.post(PATH, hook_body(sandbox, config))
    detail, *_ = assert_error(response, 422, "VALIDATION_FAILED")
    assert (detail["location"], detail["type"]) == (["body", "config", *config], kind)


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"provider": "fax"}, "provider"),
        ({"provider": None}, "provider"),
        ({"name": ""}, "name"),
        ({"webhook": "x"}, "webhook"),
    ],
)
def test_a_wrong_field_of_a_channel_is_named_as_it_was_written(sandbox: Sandbox, body: Json, field: str) -> None:
    details = assert_error(sandbox.admin.post(PATH, {**hook_body(sandbox), **body}), 422, "VALIDATION_FAILED")
    assert [detail["location"] for detail in details] == [["body", field]]


def test_a_channel_without_a_provider_is_refused_there(sandbox: Sandbox) -> None:
    details = assert_error(sandbox.admin.post(PATH, {"name": "n", "config": {}}), 422, "VALIDATION_FAILED")
    assert [detail["location"] for detail in details] == [["body", "provider"]]


@pytest.mark.parametrize("url", ["http://93.184.215.14/", "https://10.0.0.1/", "https://localhost/", "not a url"])
def test_a_webhook_that_is_not_on_the_public_network_is_refused(sandbox: Sandbox, made: list[str], url: str) -> None:
    channel = create(sandbox, made, hook_body(sandbox))
    path, edit = f"{PATH}/{channel['id']}", {**hook_body(sandbox, {"url": url}), "name": channel["name"]}
    for response in (sandbox.admin.post(PATH, hook_body(sandbox, {"url": url})), sandbox.admin.put(path, edit)):
        detail, *_ = assert_error(response, 422, "URL_NOT_ALLOWED")
        assert detail["location"] == ["body", "config", "url"]
    assert sandbox.admin.get_ok(path) == {**channel, **IDLE}


@pytest.mark.parametrize("chat_id", [0, True, 1.5, "", None, "a b", "12a", "@", "-", [1], 10**20])
def test_a_chat_id_that_is_none_is_refused(sandbox: Sandbox, chat_id: Any) -> None:
    response = sandbox.admin.post(PATH, bot_body(sandbox, config={"bot_token": TOKEN, "chat_id": chat_id}))
    assert_error(response, 422, "VALIDATION_FAILED")
    assert TOKEN not in response.text


@pytest.mark.parametrize("token", ["a/b", "a?b", "a b", "a#b", "a%2fb", "ä", "a\nb", ""])
def test_a_token_that_would_change_the_path_is_refused(sandbox: Sandbox, token: str) -> None:
    response = sandbox.admin.post(PATH, bot_body(sandbox, config={"bot_token": token, "chat_id": 1}))
    assert_error(response, 422, "VALIDATION_FAILED")


def test_blank_secrets_stay(sandbox: Sandbox, made: list[str]) -> None:
    channel = create(
        sandbox, made, hook_body(sandbox, {"authorization": "Bearer planted", "headers": {"X-Key": "planted"}})
    )
    path, body = f"{PATH}/{channel['id']}", hook_body(sandbox)
    for blank in (None, {}, {"url": None}, {"url": "", "authorization": " ", "headers": None}, {"url": HOOK}):
        assert sandbox.admin.put(path, {**body, "config": blank}).status_code == 200, blank


def test_no_secret_of_a_channel_is_anywhere_but_where_it_is_sent(sandbox: Sandbox, made: list[str]) -> None:
    config = {"authorization": "Bearer planted-authorization", "headers": {"X-Key": "planted-header"}}
    config |= {"signing_secret": "planted-signing"}
    channels = [
        create(sandbox, made, body) for body in (chat_body(sandbox), bot_body(sandbox), hook_body(sandbox, config))
    ]
    shown = [sandbox.admin.get(PATH).text, sandbox.admin.get("/audit").text, sandbox.admin.get("//openapi.json").text]
    for channel in channels:
        shown.append(sandbox.admin.get(f"{PATH}/{channel['id']}").text)
        shown.append(str(sandbox.audit_records(channel["id"])))
    shown.append(sandbox.admin.post(PATH, hook_body(sandbox, {**config, "headers": {"host": "planted"}})).text)
    assert "planted" not in "".join(shown)
    assert "-100123" not in "".join(shown)
