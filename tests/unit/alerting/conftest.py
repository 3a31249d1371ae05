"""Alerting over empty tables with a few registered resources, for every test here."""

import pytest

from tests.support.alert_manager import Alerting
from tests.unit.stores.conftest import Storage, _module_storage, interceptor, storage

__all__ = ["_module_storage", "interceptor", "storage"]


@pytest.fixture
def alerting(storage: Storage) -> Alerting:
    """Alerting that has received nothing yet."""
    alerting = Alerting()
    alerting.register()
    return alerting
