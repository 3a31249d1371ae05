from typing import Any

import pytest

from chalicelib.domain.delivery import ClaimedTarget, MappingInput, TableMapping, TableWriting, WriteMode
from chalicelib.domain.providers.jdbc.writing import claimed_tables, table_writing
from chalicelib.errors import Invalid
from tests.support.entities import make_address
from tests.support.faults import places

ORDERS = MappingInput(topic="shop.public.orders", schema_name="dwh", table_name="orders")
ADDRESS = make_address(host="DB.example.")


def writing(*mappings: MappingInput, **options: Any) -> TableWriting:
    return table_writing(mappings or (ORDERS,), options, default_schema="somewhere")


def test_a_mapping_without_a_schema_goes_to_the_default_one() -> None:
    without = MappingInput(topic="shop.public.lines", table_name="lines")
    assert writing(ORDERS, without).mappings == (
        TableMapping(topic="shop.public.orders", schema_name="dwh", table_name="orders"),
        TableMapping(topic="shop.public.lines", schema_name="somewhere", table_name="lines"),
    )


def test_a_mapping_without_a_table_is_refused_as_a_missing_field_of_the_body() -> None:
    with pytest.raises(Invalid) as refused:
        writing(ORDERS, MappingInput(topic="shop.public.lines"))
    assert places(refused.value.details) == [{"location": ["body", "mappings", 1, "table_name"], "type": "missing"}]


@pytest.mark.parametrize(
    ("options", "deletes"),
    [
        ({}, True),
        ({"write_mode": WriteMode.INSERT}, False),
        ({"delete_enabled": False}, False),
        ({"write_mode": WriteMode.UPSERT, "delete_enabled": True}, True),
    ],
)
def test_deletes_are_enabled_where_rows_are_written_by_key_unless_the_request_says_otherwise(
    options: dict[str, Any], deletes: bool
) -> None:
    assert writing(**options).delete_enabled is deletes


def test_an_option_of_another_kind_of_destination_is_refused_at_its_field() -> None:
    with pytest.raises(Invalid) as refused:
        writing(batch_size=5, compression="gzip", format="jsonl")
    assert places(refused.value.details) == [
        {"location": ["body", "compression"], "type": "extra_forbidden"},
        {"location": ["body", "format"], "type": "extra_forbidden"},
    ]


def test_a_table_is_claimed_at_the_address_and_at_the_server_where_that_is_known() -> None:
    by_address = ClaimedTarget(("db.example", 5432, "shop", "dwh"), "orders")
    assert list(claimed_tables(writing(), ADDRESS, None)) == [by_address]
    by_server = ClaimedTarget(("server 1", "shop", "dwh"), "orders")
    assert list(claimed_tables(writing(), ADDRESS, "server 1")) == [by_address, by_server]
