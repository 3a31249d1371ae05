import pytest

from chalicelib.domain.database import DatabaseProvider
from chalicelib.domain.providers.registry import capture_provider, target_provider


@pytest.mark.parametrize("provider", list(DatabaseProvider))
def test_every_kind_of_database_can_be_captured_from_and_delivered_to(provider: DatabaseProvider) -> None:
    assert capture_provider(provider).allowed_properties
    assert {rule.field for rule in target_provider(provider).name_rules} == {"schema_name", "table_name"}
