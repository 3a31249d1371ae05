"""Where messages may go, and who learns the secrets of a channel: cases 35 to 37 and 39."""

import json
import logging
from collections.abc import Sequence

import pytest

from chalicelib.domain.alerts.urls import parse_url
from infra.local.doubles.notification_receivers import Reply
from tests.ssrf.forms import Form, forbidden, legal
from tests.support.alerting_api import BOT, CHAT, WEBHOOK, AlertingApi
from tests.support.notification_network import TOKEN, Network
from tests.support.notifications import HOOK_HOST, PUBLIC

PATH = "/notification-channels"
PRIVATE = "10.0.0.1"


def url_of(network: Network, form: Form) -> str:
    """The URL of a form. From now on its name resolves as the form says."""
    url = form.url.replace("{port}", str(network.chat.port))
    network.names = {parse_url(url).target.host.strip("[]"): form.addresses} if form.addresses else {}
    return url


def test_no_forbidden_address_can_be_stored(world: AlertingApi, network: Network) -> None:
    """Case 35: each form when a channel is created, and when an existing one is changed."""
    channel = network.channel(WEBHOOK)
    path, forms = f"{PATH}/{channel['id']}", forbidden()
    before, accepted = world.ok("GET", path), []
    for form in forms:
        body = network.body(WEBHOOK, url=url_of(network, form))
        answers = [
            world.request("POST", PATH, {**body, "name": "another"}),
            world.request("PUT", path, {**body, "name": channel["name"]}),
        ]
        accepted += [form for answer in answers if answer.status != 422]
    assert len(forms) >= 120
    assert accepted == []
    assert world.ok("GET", path) == before
    assert world.ok("GET", PATH) == [channel]
    assert network.contacted == []


def test_public_addresses_can_be_stored(world: AlertingApi, network: Network) -> None:
    """Case 35: the other way round."""
    for form in legal():
        body = {**network.body(WEBHOOK, url=url_of(network, form)), "name": "public"}
        created = world.ok("POST", PATH, body)
        world.ok("PUT", f"{PATH}/{created['id']}", body)
        world.ok("DELETE", f"{PATH}/{created['id']}")


@pytest.mark.parametrize("later", [[PRIVATE], [PUBLIC, PRIVATE], [PRIVATE, PUBLIC]])
def test_a_name_that_has_become_private_is_not_contacted(
    world: AlertingApi, network: Network, later: Sequence[str]
) -> None:
    """Case 36: neither by a delivery nor by a test notification."""
    channel = network.channel(WEBHOOK)
    world.rule(channel)
    network.names[HOOK_HOST] = later
    tested = network.test_of(channel)
    world.report(world.connector_failed())
    world.run(600)
    assert (tested["delivered"], tested["status"]) == (False, "failed")
    (delivery,) = world.alert()["deliveries"]
    assert (delivery["status"], delivery["attempt_count"]) == ("failed", 1)
    assert network.contacted == []
    assert PRIVATE not in json.dumps([tested, delivery])


def test_only_the_address_that_was_checked_is_contacted(world: AlertingApi, network: Network) -> None:
    """Case 37: the name server answers the next question with the metadata service."""
    world.rule(network.channel(WEBHOOK))
    network.answers, network.names[HOOK_HOST] = [[PUBLIC]], ["169.254.169.254"]
    world.report(world.connector_failed())
    world.run(600)
    assert network.contacted == [(PUBLIC, 443)]
    assert world.sent(world.alert()) == [("firing", "delivered")]


def test_a_redirect_is_not_followed(world: AlertingApi, network: Network) -> None:
    """Case 37."""
    world.rule(network.channel(WEBHOOK))
    network.hook.script(Reply(status=302, body="", headers={"Location": "https://169.254.169.254/latest/meta-data/"}))
    world.report(world.connector_failed())
    world.run(600)
    assert network.contacted == [(PUBLIC, 443)]
    assert world.sent(world.alert()) == [("firing", "failed")]


def test_a_secret_stays_until_another_one_is_given_and_is_shown_nowhere(
    world: AlertingApi, network: Network, caplog: pytest.LogCaptureFixture
) -> None:
    """Case 39: in answers, in the audit trail, in errors, in the documentation, and in logs of every level."""
    for name in ("", "headgate", "httpx", "httpcore", "botocore"):
        caplog.set_level(logging.DEBUG, logger=name)
    shown, authorization = list[str](), "Bearer planted-authorization"

    def request(method: str, path: str, body: object = None) -> str:
        shown.append(world.request(method, path, body).body)
        return shown[-1]

    created = json.loads(request("POST", PATH, network.body(WEBHOOK, authorization=authorization)))
    path, blank = f"{PATH}/{created['id']}", {**network.body(WEBHOOK), "config": {"url": "", "authorization": None}}
    assert created["credentials"] == {"configured": True, "mask": f"https://{HOOK_HOST}/********"}
    request("PUT", path, blank)
    assert network.test_of(created)["delivered"]
    assert network.hook.received[-1].headers["authorization"] == authorization
    request("PUT", path, {**blank, "config": {"authorization": authorization + "-2"}})
    assert network.test_of(created)["delivered"]
    assert network.hook.received[-1].headers["authorization"] == authorization + "-2"

    network.hook.script(Reply(status=401, body=authorization))
    world.rule(created, network.channel(CHAT), network.channel(BOT))
    world.report(world.connector_failed())
    assert (network.chat.received[-1].path, network.bot.received[-1].path) == (
        "/services/planted", f"/bot{TOKEN}/sendMessage",
    )  # fmt: skip
    request("PUT", path, {**blank, "config": {"url": f"https://{PRIVATE}/planted"}})
    request("POST", PATH, {**network.body(WEBHOOK, headers={"host": "planted"}), "name": "other"})
    for one in (PATH, path, "/audit", f"/alerts/{world.alert()['id']}", "/metrics"):
        request("GET", one)
    documentation = world.send("GET", "/openapi.json", {}, b"")
    assert documentation.status == 200
    logged = "\n".join(f"{record.getMessage()} {record.__dict__}" for record in caplog.records)
    assert "planted" not in "".join((*shown, documentation.body))
    assert logged
    assert "planted" not in logged
