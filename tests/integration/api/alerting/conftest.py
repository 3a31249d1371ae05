"""Alerting over HTTP for every test here: with scripted providers, or with receivers on this machine."""

from tests.support.alerting_api import world
from tests.support.in_process_app import app, app_of_the_module
from tests.support.notification_network import network

__all__ = ["app", "app_of_the_module", "network", "world"]
