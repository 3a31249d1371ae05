"""An exchange of the master key with faults, on DynamoDB Local, which is closer to DynamoDB than moto."""

from collections.abc import Iterator

import pytest

from tests.faults.test_crash_points_on_dynamodb_local import local_app
from tests.support.apps.call_interceptor import FailureMode
from tests.support.apps.in_process_app import SETTINGS, InProcessApp
from tests.support.hostile.key_exchange import FAULTS, fault_at_every_call

__all__ = ["local_app"]
pytestmark = pytest.mark.real


@pytest.fixture
def new_app(local_app: InProcessApp) -> Iterator[InProcessApp]:
    """The app with the tables that it had before."""
    empty = local_app.snapshot()
    yield local_app
    local_app.settings = SETTINGS
    local_app.restore(empty)


@pytest.mark.parametrize("fault", FAULTS, ids=lambda one: one.__name__)
def test_a_fault_at_any_call_of_an_exchange_leaves_everything_readable(
    new_app: InProcessApp, fault: FailureMode
) -> None:
    assert fault_at_every_call(new_app, fault) >= 7
