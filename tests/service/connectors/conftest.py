"""The in-process app for every test here."""

from tests.support.apps.in_process_app import app, app_of_the_module

__all__ = ["app", "app_of_the_module"]
