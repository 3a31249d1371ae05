"""Which facts about a source, a destination or a connection a new address invalidates."""

from dataclasses import MISSING, fields
from typing import Any

import pytest

from chalicelib.domain.connection import Connection
from chalicelib.domain.destination import Destination
from chalicelib.domain.registered import RegisteredSystem
from chalicelib.domain.source import Source

KEPT = {"version", "revision", "deliveries", "connection_id", "used_by", "options", "labels", "discovery_bound"}
"""Fields that do not come from a database."""


def _of_a_new_one(kind: type[RegisteredSystem[Any]]) -> dict[str, Any]:
    made = {field.name: field.default_factory() for field in fields(kind) if field.default_factory is not MISSING}
    return made | {field.name: field.default for field in fields(kind) if field.default is not MISSING}


@pytest.mark.parametrize("kind", [Source, Destination, Connection])
def test_another_database_has_the_facts_of_a_new_registration(kind: type[RegisteredSystem[Any]]) -> None:
    initial = _of_a_new_one(kind)
    assert {name: initial[name] for name in initial.keys() - KEPT} == kind.UNDISCOVERED
    assert kind.UNDISCOVERED.keys() >= {"health", "last_test", "last_tested_at"}
