"""The publication, and the advice about it."""

from dataclasses import replace

from chalicelib.domain.providers.postgresql.facts import PublishedTable, RelationKind, RoleFacts
from chalicelib.domain.table import TableName
from tests.support.databases.postgresql_facts import (
    BEATING,
    EXISTING,
    FIRST_PLAN,
    HEARTBEAT,
    ORDERS,
    PLAN,
    PUBLICATION,
    TABLE,
    failing,
    judged,
    warning,
)
from tests.support.databases.readiness import check_of


def test_publication_that_lists_exactly_the_tables_needs_no_rights() -> None:
    poor = RoleFacts(name="cdc", can_create_in_database=False)
    foreign = replace(PUBLICATION, owned=False)
    assert failing(role=poor, tables=(replace(TABLE, owned=False),), publications=(foreign,)) == set()
    more = replace(foreign, table_count=2)
    assert failing(role=poor, publications=(more,)) == {"publication_rights"}


def test_a_publication_of_somebody_else_is_not_changed_unasked() -> None:
    more = replace(PUBLICATION, table_count=2)
    for publication in (PUBLICATION, more, replace(PUBLICATION, all_tables=True, table_count=None)):
        assert failing(FIRST_PLAN, publications=(publication,)) == {"publication"}
        assert failing(EXISTING, publications=(publication,)) == set()
    (check,) = judged(FIRST_PLAN, publications=(more,)).failures
    assert "adopt_existing" in (check.recommended_action or "")


def test_a_row_filter_matters_only_when_the_publication_is_not_changed() -> None:
    published = replace(PUBLICATION, tables=(PublishedTable(name=ORDERS, row_filter=True),))
    assert warning(EXISTING, publications=(published,)) == {"publication_rows"}
    assert warning(PLAN, publications=(published,)) == {"publication_rows"}
    assert warning(PLAN, publications=(replace(published, table_count=2),)) == set()


def test_partitioned_table_passes_when_the_pipeline_publishes_by_the_root() -> None:
    parts = replace(TABLE, kind=RelationKind.PARTITIONED)
    assert failing(PLAN, tables=(parts,)) == set()
    assert failing(replace(PLAN, publishes_partition_root=False), tables=(parts,)) == {"partitioned_tables"}


def test_the_first_advice_for_tables_of_others_is_a_publication_and_no_ownership_is_transferred() -> None:
    foreign = replace(TABLE, owned=False, owner="app")
    (check,) = judged(tables=(foreign,)).failures
    lines = (check.recommended_action or "").splitlines()
    assert lines[1] == ('CREATE PUBLICATION "pub" FOR TABLE "shop"."orders" WITH (publish_via_partition_root = true);')
    assert '"Publication that exists already", else as publication_name with publication_mode existing' in lines[2]
    assert lines[-3:] == [
        'CREATE ROLE "cdc_for_app" NOLOGIN;',
        'GRANT "app" TO "cdc_for_app";',
        'GRANT "cdc_for_app" TO "cdc";',
    ]
    assert "OWNER TO" not in (check.recommended_action or "")


def test_a_recommended_publication_has_every_table() -> None:
    names = tuple(TableName("shop", f"t{number}") for number in range(40))
    plan = replace(EXISTING, tables=names, heartbeat_table=HEARTBEAT.name)
    tables = (*(replace(TABLE, name=name) for name in names), HEARTBEAT)
    check = check_of(judged(plan, tables=tables), "publication")
    assert all(f'"shop"."t{number}"' in (check.recommended_action or "") for number in range(40))
    assert '"shop"."heartbeat"' in (check.recommended_action or "")


def test_a_heartbeat_table_counts_as_published_by_debezium() -> None:
    published = replace(
        PUBLICATION, owned=False, tables=(*PUBLICATION.tables, PublishedTable(name=HEARTBEAT.name)), table_count=2
    )
    poor = RoleFacts(name="cdc", can_create_in_database=False)
    foreign = replace(TABLE, owned=False)
    assert failing(BEATING, role=poor, tables=(foreign, HEARTBEAT), publications=(published,)) == set()
    without = replace(published, tables=PUBLICATION.tables, table_count=1)
    assert failing(BEATING, role=poor, tables=(foreign, HEARTBEAT), publications=(without,)) == {"publication_rights"}


def test_nobody_is_given_the_rights_of_a_superuser() -> None:
    (check,) = judged(tables=(replace(TABLE, owned=False, owner=None),)).failures
    assert "CREATE PUBLICATION" in (check.recommended_action or "")
    assert "CREATE ROLE" not in (check.recommended_action or "")
