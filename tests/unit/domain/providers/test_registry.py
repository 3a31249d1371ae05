import pytest

from chalicelib.domain.addresses import DatabaseAddress
from chalicelib.domain.database import DatabaseProvider
from chalicelib.domain.delivery import MappingInput
from chalicelib.domain.providers.registry import capture_provider, database_defaults, target_provider


@pytest.mark.parametrize("provider", list(DatabaseProvider))
def test_every_kind_of_database_can_be_captured_from_and_delivered_to(provider: DatabaseProvider) -> None:
    assert capture_provider(provider).allowed_properties
    port = database_defaults(provider).port
    address = DatabaseAddress(provider=provider, host="db", port=port, database_name="shop", username="headgate")
    writing = target_provider(provider).writing([MappingInput(topic="t", table_name="orders")], {}, address)
    assert [target.table_name for target in writing.targets] == ["orders"]
