import pytest

from chalicelib.domain.database import DatabaseProvider
from chalicelib.domain.delivery import MappingInput
from chalicelib.domain.providers.registry import capture_provider, database_defaults, target_provider
from tests.support.entities import make_address


@pytest.mark.parametrize("provider", list(DatabaseProvider))
def test_every_kind_of_database_can_be_captured_from_and_delivered_to(provider: DatabaseProvider) -> None:
    assert capture_provider(provider).allowed_properties
    address = make_address(provider=provider, port=database_defaults(provider).port)
    writing = target_provider(provider).writing([MappingInput(topic="t", table_name="orders")], {}, address)
    assert [target.table_name for target in writing.targets] == ["orders"]
