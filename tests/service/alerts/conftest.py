"""A whole Headgate in this process for every test here, and its alerting in virtual time."""

from tests.support.alerting.virtual import alerting
from tests.support.apps.in_process_app import app, app_of_the_module

__all__ = ["alerting", "app", "app_of_the_module"]
