"""The house for every test here."""

from tests.support.in_process_app import house, house_of_the_module

__all__ = ["house", "house_of_the_module"]
