"""What a source leaves behind."""

from dataclasses import replace

from chalicelib.stores.transaction import Transaction
from tests.support.in_process_app import House


def test_a_deleted_source_leaves_no_tables_behind(house: House) -> None:
    source = house.source()
    assert house.services.stores.tables.list(source.id)
    house.services.sources.delete(house.call(), source.id)
    assert house.services.stores.tables.list(source.id) == ()


def test_nor_does_one_whose_discovery_died_before_it_noted_what_it_found(house: House) -> None:
    source, transaction = house.source(), Transaction()
    house.services.stores.sources.save(transaction, replace(source, last_discovery_at=None))
    transaction.commit()
    house.services.sources.delete(house.call(), source.id)
    assert house.services.stores.tables.list(source.id) == ()
