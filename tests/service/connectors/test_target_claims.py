"""Claims on target tables: one delivery writes a table, whichever destination names the database."""

from dataclasses import replace

import pytest

from chalicelib.domain.delivery import Delivery, TableMapping, TableWriting
from chalicelib.domain.destination import Destination
from chalicelib.errors import Conflict, WriteConflict
from chalicelib.services.connectors.target_claims import TargetClaims
from chalicelib.stores.claims import target_key
from chalicelib.stores.transaction import Transaction
from tests.support.apps.in_process_app import START_TIME, InProcessApp


@pytest.fixture
def claims(app: InProcessApp) -> TargetClaims:
    return app.services.delivery_connector.target_claims


@pytest.fixture
def destination(app: InProcessApp) -> Destination:
    return app.destination()


def writing(*tables: str, schema: str = "target") -> TableWriting:
    mappings = (TableMapping(topic=f"p.shop.{table}", schema_name=schema, table_name=table) for table in tables)
    return TableWriting(mappings=tuple(mappings))


def delivery(name: str, *tables: str) -> Delivery:
    return Delivery(
        id=name, name=name, destination_id="d", pipeline_id="p", connect_cluster_id="c", writing=writing(*tables),
        created_at=START_TIME, updated_at=START_TIME,
    )  # fmt: skip


def claim(claims: TargetClaims, one: Delivery, destination: Destination, *new: TableWriting) -> None:
    transaction = Transaction()
    claims.claim(transaction, one, destination, *new)
    transaction.commit()


def release(claims: TargetClaims, delivery: Delivery, destination: Destination) -> None:
    transaction = Transaction()
    claims.release(transaction, delivery, destination)
    transaction.commit()


def holders(claims: TargetClaims, destination: Destination, schema: str = "target") -> dict[str, str]:
    place = (*destination.address.identity, schema)
    keys = {target_key(place, table) for table in ("orders", "items", "customers")}
    return {table: holder for row in claims.targets.read(list(keys)) for table, holder in row.holders.items()}


def test_a_table_has_one_delivery(claims: TargetClaims, destination: Destination) -> None:
    first, second = delivery("first", "orders"), delivery("second", "orders", "items")
    claim(claims, first, destination, first.writing)
    with pytest.raises(Conflict) as refused:
        claim(claims, second, destination, second.writing)
    assert refused.value.code == "TARGET_TABLE_CONFLICT"
    assert holders(claims, destination) == {"orders": "first"}


def test_a_claim_of_other_tables_releases_those_that_are_no_longer_mapped(
    claims: TargetClaims, destination: Destination
) -> None:
    one = delivery("first", "orders", "items")
    claim(claims, one, destination, one.writing)
    claim(claims, one, destination, writing("items", "customers"))
    assert holders(claims, destination) == {"items": "first", "customers": "first"}


def test_a_claim_in_another_schema_releases_the_former_one(claims: TargetClaims, destination: Destination) -> None:
    one = delivery("first", "orders")
    claim(claims, one, destination, one.writing)
    claim(claims, one, destination, writing("orders", schema="other"))
    assert (holders(claims, destination), holders(claims, destination, "other")) == ({}, {"orders": "first"})


def test_a_release_leaves_the_tables_of_other_deliveries(claims: TargetClaims, destination: Destination) -> None:
    first, second = delivery("first", "orders"), delivery("second", "items")
    for one in (first, second):
        claim(claims, one, destination, one.writing)
    release(claims, first, destination)
    assert holders(claims, destination) == {"items": "second"}


def test_another_destination_with_the_same_database_has_the_same_claims(
    claims: TargetClaims, destination: Destination
) -> None:
    first, second = delivery("first", "orders"), delivery("second", "orders")
    claim(claims, first, destination, first.writing)
    twin = replace(destination, id="twin", name="twin")
    with pytest.raises(Conflict):
        claims.require_free(second, twin)
    elsewhere = replace(twin, address=replace(destination.address, database_name="other"))
    claims.require_free(second, elsewhere)


def test_requiring_free_tables_claims_none(claims: TargetClaims, destination: Destination) -> None:
    claims.require_free(delivery("first", "orders"), destination)
    assert holders(claims, destination) == {}


def neighbour(destination: Destination) -> str:
    """Another table whose claim is in the row of that on `orders`."""
    place = (*destination.address.identity, "target")
    names = (f"table {number}" for number in range(10_000))
    return next(name for name in names if target_key(place, name) == target_key(place, "orders"))


@pytest.mark.parametrize("same_table", [True, False])
def test_of_two_claims_in_one_row_the_later_commit_is_refused(
    claims: TargetClaims, destination: Destination, same_table: bool
) -> None:
    first, second = Transaction(), Transaction()
    claims.claim(first, delivery("first"), destination, writing("orders"))
    table = "orders" if same_table else neighbour(destination)
    claims.claim(second, delivery("second"), destination, writing(table))
    first.commit()
    with pytest.raises(WriteConflict) as refused:
        second.commit()
    assert refused.value.label == "targets.version"


def test_one_schema_takes_thousands_of_tables_with_long_names(claims: TargetClaims, destination: Destination) -> None:
    for number in range(14):
        one = delivery(f"delivery {number}", *(f"{number:03}_{table:060}" for table in range(500)))
        claim(claims, one, destination, one.writing)
    with pytest.raises(Conflict):
        claims.require_free(delivery("another", f"013_{499:060}"), destination)


def test_a_delivery_of_500_tables_moves_to_another_schema_in_one_transaction(
    claims: TargetClaims, destination: Destination
) -> None:
    tables = [f"{table:063}" for table in range(500)]
    one = delivery("first", *tables)
    moved = writing(*tables, schema="other")
    claim(claims, one, destination, one.writing)
    claim(claims, one, destination, one.writing, moved)
    claim(claims, one, destination, moved)
    claims.require_free(delivery("second", *tables), destination)


def under_another_name(destination: Destination, **changes: object) -> Destination:
    """A destination on the same server, registered with another host name."""
    elsewhere = replace(destination.address, host="alias.example.com", **changes)  # type: ignore[arg-type]
    return replace(destination, id="another", address=elsewhere)


def test_two_addresses_of_one_server_have_the_same_claims(claims: TargetClaims, destination: Destination) -> None:
    known = replace(destination, server_identity="server 1")
    claim(claims, delivery("first", "orders"), known, writing("orders"))
    with pytest.raises(Conflict) as refused:
        claims.require_free(delivery("second", "orders"), under_another_name(known))
    assert refused.value.code == "TARGET_TABLE_CONFLICT"
    claims.require_free(delivery("second", "items"), under_another_name(known))
    claims.require_free(delivery("second", "orders"), under_another_name(known, database_name="other"))
    claims.require_free(delivery("second", "orders"), replace(under_another_name(known), server_identity="server 2"))


def test_a_claim_of_a_time_when_the_server_was_not_known_still_counts_and_is_released(
    claims: TargetClaims, destination: Destination
) -> None:
    first, known = delivery("first", "orders"), replace(destination, server_identity="server 1")
    claim(claims, first, destination, first.writing)
    with pytest.raises(Conflict):
        claims.require_free(delivery("second", "orders"), known)
    release(claims, first, known)
    claims.require_free(delivery("second", "orders"), known)


def test_a_delivery_that_writes_the_same_table_as_another_one_is_released_alone(
    claims: TargetClaims, destination: Destination
) -> None:
    """The two claimed it under different addresses, before the server of the first was known."""
    first, second = delivery("first", "orders", "items"), delivery("second", "orders")
    claim(claims, first, destination, first.writing)
    known = replace(destination, server_identity="server 1")
    alias = under_another_name(known)
    claim(claims, second, alias, second.writing)
    transaction = Transaction()
    claims.keep(transaction, first, known, writing("items"))
    transaction.commit()
    assert holders(claims, destination) == {"items": "first"}
    assert holders(claims, alias) == {"orders": "second"}
    with pytest.raises(Conflict):
        claims.require_free(delivery("third", "orders"), known)
