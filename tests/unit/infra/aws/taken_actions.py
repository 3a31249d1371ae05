"""The AWS actions that work takes, and those of them that the policy of a function refuses."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

from moto.core.models import botocore_stubber

from chalicelib.kit.ids import new_id
from chalicelib.kit.unreadable import Unreadable
from infra.aws.functions import FUNCTIONS as ROWS
from infra.aws.permissions import allows, policy_of
from tests.faults.cases.connectors import deployed_delivery
from tests.integration.lambda_process import actions
from tests.support.apps.in_process_app import InProcessApp

FUNCTIONS = tuple(row.name for row in ROWS)
SETTLES = (10, 31, 10, 10)
"""Seconds before each tick: one of them is past the lease of an operation."""


@contextmanager
def taken() -> Iterator[set[tuple[str, str]]]:
    """The AWS actions that are taken inside the block."""
    noted: set[tuple[str, str]] = set()
    answer = botocore_stubber.process_request

    def note(request: Any) -> Any:
        noted.update(actions(_text(request.headers["X-Amz-Target"]), json.loads(request.body)))
        return answer(request)

    with patch.object(botocore_stubber, "process_request", note):
        yield noted


def _text(header: str | bytes) -> str:
    return header.decode() if isinstance(header, bytes) else header


def refused(function: str, calls: set[tuple[str, str]]) -> set[tuple[str, str]]:
    assert calls
    return {(action, resource) for action, resource in calls if not allows(policy_of(function), action, resource)}


def a_delivery(app: InProcessApp) -> str:
    return deployed_delivery(app).id


def note_every_kind(app: InProcessApp) -> None:
    """A note of a row of each kind that the schedule reads."""
    for kind in app.services.unreadable_rows.readers:
        app.services.unreadable_rows.note([Unreadable(kind, new_id(), "enum")])
