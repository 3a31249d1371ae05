"""A whole Headgate in this process for every test here, and its alerting in virtual time."""

from tests.support.alerting import alerting
from tests.support.in_process_app import app, app_of_the_module

__all__ = ["alerting", "app", "app_of_the_module"]
