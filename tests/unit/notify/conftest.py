from collections.abc import Iterator

import pytest

from infra.local.doubles.authority import Authority
from infra.local.doubles.notification_receivers import Kind, NotificationReceiver
from tests.support.alerting.notifications import HOOK_HOST


@pytest.fixture(scope="session")
def authority() -> Authority:
    return Authority()


def running(kind: Kind, authority: Authority) -> Iterator[NotificationReceiver]:
    with NotificationReceiver(kind, authority=authority, hosts=(HOOK_HOST,)) as receiver:
        yield receiver


@pytest.fixture
def chat(authority: Authority) -> Iterator[NotificationReceiver]:
    yield from running(Kind.CHAT, authority)


@pytest.fixture
def bot(authority: Authority) -> Iterator[NotificationReceiver]:
    yield from running(Kind.BOT, authority)


@pytest.fixture
def hook(authority: Authority) -> Iterator[NotificationReceiver]:
    yield from running(Kind.WEBHOOK, authority)
