"""Alerting over empty tables with a few registered resources, for every test here."""

import pytest

from tests.service.stores.conftest import Storage, _module_storage, interceptor, storage
from tests.support.alerting.manager import Alerting

__all__ = ["_module_storage", "interceptor", "storage"]


@pytest.fixture
def alerting(storage: Storage) -> Alerting:
    """Alerting that has received nothing yet."""
    alerting = Alerting()
    alerting.register()
    return alerting


@pytest.fixture
def failing(alerting: Alerting) -> Alerting:
    """Alerting with a rule and a channel, to which a failed task was reported."""
    alerting.rule(alerting.channel())
    alerting.report(alerting.task_failed())
    return alerting
