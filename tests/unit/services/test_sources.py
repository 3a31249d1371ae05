"""What a source leaves behind."""

from dataclasses import replace

from chalicelib.stores.transaction import Transaction
from tests.support.in_process_app import InProcessApp


def test_a_deleted_source_leaves_no_tables_behind(app: InProcessApp) -> None:
    source = app.source()
    assert app.services.stores.tables.list(source.id)
    app.services.sources.delete(app.context(), source.id)
    assert app.services.stores.tables.list(source.id) == ()


def test_nor_does_one_whose_discovery_died_before_it_noted_what_it_found(app: InProcessApp) -> None:
    source, transaction = app.source(), Transaction()
    app.services.stores.sources.save(transaction, replace(source, last_discovery_at=None))
    transaction.commit()
    app.services.sources.delete(app.context(), source.id)
    assert app.services.stores.tables.list(source.id) == ()
