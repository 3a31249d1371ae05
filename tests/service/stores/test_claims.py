"""Claims: one holder each."""

import pytest

from chalicelib.errors import WriteConflict
from chalicelib.stores.claims import TARGET_BUCKETS, Claims, TargetRow, Targets, target_key, with_targets
from chalicelib.stores.transaction import Transaction
from tests.service.stores.conftest import Storage


def take(key: str, holder: str) -> None:
    with Transaction() as transaction:
        Claims().take(transaction, key, holder, label="name")


def release(key: str, holder: str) -> None:
    with Transaction() as transaction:
        Claims().release(transaction, key, holder)


def test_a_claim_has_one_holder(storage: Storage) -> None:
    take("name/a", "first")
    with pytest.raises(WriteConflict) as refused:
        take("name/a", "second")
    assert (refused.value.label, Claims().find("name/a")) == ("name", "first")


def test_only_its_holder_can_release_a_claim_and_twice_is_harmless(storage: Storage) -> None:
    take("name/a", "first")
    with pytest.raises(WriteConflict):
        release("name/a", "second")
    release("name/a", "first")
    release("name/a", "first")
    assert Claims().find("name/a") is None
    take("name/a", "second")


def test_target_tables_are_replaced_only_with_the_last_version(storage: Storage) -> None:
    targets, key = Targets(), target_key(("host", 5432, "database", "schema"), "orders")
    assert targets.read([key]) == [TargetRow(key, {}, 0)]

    def replace(holders: dict[str, str], version: int) -> None:
        with Transaction() as transaction:
            targets.replace(transaction, TargetRow(key, {}, version), holders)

    replace({"orders": "first"}, 0)
    assert targets.read([key]) == [TargetRow(key, {"orders": "first"}, 1)]
    for stale in (0, 2):
        with pytest.raises(WriteConflict) as refused:
            replace({"orders": "second"}, stale)
        assert refused.value.label == "targets.version"
    replace({}, 1)
    assert targets.read([key]) == [TargetRow(key, {}, 2)]


def test_databases_that_look_alike_have_different_keys() -> None:
    assert target_key(("a", 1, "b", "c"), "d") != target_key(("a", 1, "b,c", ""), "d")
    assert target_key(("a", 1, "b", "c"), "d") == target_key(("a", 1, "b", "c"), "d")


def test_the_tables_of_a_schema_are_divided_among_a_bounded_number_of_rows() -> None:
    keys = {target_key(("a", 1, "b", "c"), f"table {number}") for number in range(5_000)}
    assert len(keys) == TARGET_BUCKETS


def test_a_delivery_has_exactly_the_tables_that_are_passed() -> None:
    holders = {"orders": "first", "lines": "second"}
    assert with_targets(holders, ["customers"], "first") == {"lines": "second", "customers": "first"}
