"""Webhooks cannot be used to reach what is not public: several hundred forms, and a network that changes its mind."""

from collections.abc import Iterable, Iterator
from itertools import chain, repeat

import pytest

from chalicelib.clients.http.addresses import Resolve
from chalicelib.domain.alerts.channel import ChannelProvider
from chalicelib.kit.clock import Deadline
from chalicelib.notify.contract import Accepted, Outcome, Permanent, Transient
from infra.local.doubles.authority import Authority
from infra.local.doubles.notification_receivers import Kind, NotificationReceiver
from tests.ssrf.forms import forbidden, legal
from tests.ssrf.runs import Sink, run, sink, wrongly_allowed, wrongly_refused
from tests.support.alerting.notifications import HOOK_HOST, PUBLIC, message, recorded_dials, resolving, secrets, senders

URL = f"https://{HOOK_HOST}/in"


@pytest.fixture
def server() -> Iterator[Sink]:
    with sink() as running:
        yield running


@pytest.fixture
def authority() -> Authority:
    return Authority()


@pytest.fixture
def hook(authority: Authority) -> Iterator[NotificationReceiver]:
    with NotificationReceiver(Kind.WEBHOOK, authority=authority, hosts=(HOOK_HOST,)) as receiver:
        yield receiver


def test_no_forbidden_form_is_stored_or_leads_to_a_connection(server: Sink) -> None:
    forms = forbidden()
    results = run(forms, server.port)
    assert len(forms) >= 250
    assert wrongly_allowed(results) == []
    assert server.accepted == 0


def test_no_legal_form_is_refused(server: Sink) -> None:
    forms = legal()
    assert len(forms) >= 50
    assert wrongly_refused(run(forms, server.port)) == []


def test_the_forms_would_show_a_missing_check_of_addresses(server: Sink) -> None:
    results = run(forbidden(), server.port, allow_private=True)
    assert len(wrongly_allowed(results)) > 20
    assert server.accepted > 0


def changing(*answers: Iterable[str]) -> Resolve:
    """A name server that answers each question differently; the last answer is repeated."""
    turns = chain(answers, repeat(answers[-1]))
    return lambda _: next(turns)


def send(resolve: Resolve, authority: Authority) -> Outcome:
    sender = senders(resolve=resolve, authority=authority)[ChannelProvider.WEBHOOK]
    return sender.send(message(), secrets(url=URL), Deadline.after(10))


def test_a_name_that_was_public_when_it_was_stored_is_not_contacted_once_it_is_private(authority: Authority) -> None:
    resolve = changing([PUBLIC], ["10.0.0.1"])
    sender = senders(resolve=resolve, authority=authority)[ChannelProvider.WEBHOOK]
    assert sender.check(secrets(url=URL)).secrets["url"].reveal() == URL
    with recorded_dials() as dials:
        outcome = sender.send(message(), secrets(url=URL), Deadline.after(10))
    assert isinstance(outcome, Permanent)
    assert dials == []


def test_the_address_that_was_checked_is_the_one_that_is_contacted(
    hook: NotificationReceiver, authority: Authority
) -> None:
    with recorded_dials({PUBLIC: hook.port}) as dials:
        assert send(changing([PUBLIC], ["169.254.169.254"]), authority) == Accepted()
    assert dials == [(PUBLIC, 443)]
    assert hook.received[0].headers["host"] == HOOK_HOST


def test_blocked_refused_and_unknown_hosts_look_the_same(authority: Authority) -> None:
    with recorded_dials():
        outcomes = [
            send(resolving({HOOK_HOST: ["10.0.0.1"]}), authority),
            send(resolving({HOOK_HOST: [PUBLIC]}), authority),
            send(resolving({}), authority),
        ]
    assert all(isinstance(outcome, (Permanent, Transient)) for outcome in outcomes)
    assert len({outcome.error for outcome in outcomes if isinstance(outcome, (Permanent, Transient))}) == 1
