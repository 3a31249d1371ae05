"""Empty tables on moto for every test here."""

from tests.integration.stores.conftest import _room, room

__all__ = ["_room", "room"]
