"""A whole Headgate in this process for every test here, and its alerting in virtual time."""

import pytest

from chalicelib.domain.alerts.channel import Channel
from tests.support.alerting.virtual import AlertingDriver, alerting
from tests.support.apps.in_process_app import app, app_of_the_module

__all__ = ["alerting", "app", "app_of_the_module"]


@pytest.fixture
def channel(alerting: AlertingDriver) -> Channel:
    """A chat webhook whose provider follows a script."""
    return alerting.channel()
