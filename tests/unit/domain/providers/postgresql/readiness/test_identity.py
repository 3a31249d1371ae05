"""Old rows: replica identity, partitions and large values."""

from dataclasses import replace

from chalicelib.domain.providers.postgresql.facts import RelationKind, ReplicaIdentity, SomeTables
from chalicelib.domain.table import TableName
from tests.support.databases.postgresql_facts import COLUMN, EXISTING, PLAN, PUBLICATION, TABLE, failing, judged


def test_publication_without_updates_and_deletes_does_not_ask_for_an_identity() -> None:
    keyless = replace(TABLE, primary_key_columns=(), identity_usable=False)
    inserts = replace(PUBLICATION, updates=False, deletes=False)
    assert failing(EXISTING, tables=(keyless,), publications=(inserts,)) == set()
    deletes = replace(PUBLICATION, updates=False)
    assert failing(EXISTING, tables=(keyless,), publications=(deletes,)) == {"replica_identity"}


def test_a_replica_identity_failure_names_the_effect_and_the_repair() -> None:
    nothing = replace(TABLE, replica_identity=ReplicaIdentity.NOTHING, identity_usable=False)
    (check,) = judged(tables=(nothing,)).failures
    assert check.recommended_action is not None
    assert check.recommended_action.startswith('ALTER TABLE "shop"."orders" REPLICA IDENTITY FULL;')
    assert "application" in check.description


MANY = SomeTables(count=30, names=tuple(TableName("shop", f"p{number}") for number in range(10)))


def test_statements_for_many_partitions_are_given_by_a_query() -> None:
    name = TableName("sh'op", 'Or"ders')
    parts = replace(
        TABLE, name=name, kind=RelationKind.PARTITIONED, partitions=30, without_identity=MANY, primary_key_columns=()
    )
    (check,) = judged(replace(PLAN, tables=(name,)), tables=(parts,)).failures
    assert (check.key, check.current_value) == ("replica_identity", "sh'op.Or\"ders (30 of 30 partitions)")
    assert """pg_partition_tree('"sh''op"."Or""ders"')""" in (check.recommended_action or "")
    assert "p0" not in (check.recommended_action or "")


def test_updates_that_are_not_published_lose_no_large_value() -> None:
    large = replace(COLUMN, name="note", storable_apart=True)
    key = replace(COLUMN, needs_quotes=True)
    table = replace(TABLE, raw_columns=(key, large), stores_apart=True)
    assert failing(EXISTING, tables=(table,), publications=(PUBLICATION,)) == {"large_values"}
    inserts = replace(PUBLICATION, updates=False, deletes=False)
    assert failing(EXISTING, tables=(table,), publications=(inserts,)) == set()
