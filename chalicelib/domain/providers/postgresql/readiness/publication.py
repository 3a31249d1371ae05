"""What readiness asks of the publication. What Debezium does with one is read from its version 3.6.

`existing` (autocreate off): it must be there and is taken as it is. `filtered`: Debezium makes it when it is missing,
leaves it alone when it lists exactly the captured tables, refuses one FOR ALL TABLES, and else replaces its list of
tables, which drops row filters and column lists and keeps the kinds of change.
"""

from collections.abc import Sequence

from chalicelib.domain.names import name_list
from chalicelib.domain.providers.postgresql.capture_options import PublicationMode
from chalicelib.domain.providers.postgresql.facts import (
    PostgreSQLRawTable,
    PostgreSQLServerFacts,
    PublicationFacts,
    RelationKind,
)
from chalicelib.domain.providers.postgresql.properties import PARTITION_ROOT_PROPERTY
from chalicelib.domain.providers.postgresql.readiness.tables import captured
from chalicelib.domain.providers.postgresql.replica_identity import identity_columns
from chalicelib.domain.providers.postgresql.replication import PUBLICATION, PostgreSQLCapturePlan
from chalicelib.domain.providers.postgresql.sql import quoted, quoted_table
from chalicelib.domain.readiness import Judgement, failed, for_plan, listed, passed, readiness_check, statements, warned


def _is_rewritten(publication: PublicationFacts, plan: PostgreSQLCapturePlan) -> bool:
    """Whether Debezium will replace its list of tables."""
    lists_exactly = (
        not publication.all_tables
        and publication.table_count == len(plan.published_tables)
        and all(publication.table(name) is not None for name in plan.published_tables)
    )
    return plan.publication_mode is PublicationMode.FILTERED and not lists_exactly


@readiness_check(
    "publication",
    name="Publication",
    description="The publication exists, or can be made for exactly the captured tables.",
)
@for_plan
def publication_available(facts: PostgreSQLServerFacts, plan: PostgreSQLCapturePlan) -> Judgement:
    publication, name = facts.publication(plan.publication_name), quoted(plan.publication_name)
    if plan.publication_mode is PublicationMode.EXISTING:
        if publication is None:
            return failed("missing", "exists", _create_publication(plan))
        return passed("exists", "exists")
    if publication is not None and not plan.may_use(PUBLICATION):
        return failed(
            "exists already, and no pipeline has made it",
            "missing, or for single tables",
            "Choose another publication_name for the pipeline. Or take this one as it is, without a change of it: with "
            "publication_mode existing, or with options.adopt_existing.",
        )
    if publication is not None and publication.all_tables:
        return failed(
            "exists FOR ALL TABLES",
            "missing, or for single tables",
            f"Take it as it is (publication_mode existing), choose another name for yours, or DROP PUBLICATION {name};",
        )
    return passed("missing: it will be made" if publication is None else "exists", "missing, or for single tables")


@readiness_check(
    "publication_rights",
    name="Rights for the publication",
    description="A publication that the connector makes takes CREATE on the database and an owner's rights on the "
    "tables. One that an administrator makes (publication_mode existing) takes neither.",
)
def publication_rights(facts: PostgreSQLServerFacts, plan: PostgreSQLCapturePlan | None) -> Judgement | None:
    """With `filtered`, the role may make the publication or change it, and owns the tables that it adds."""
    if plan is None:
        return _right_to_create(facts)
    publication = facts.publication(plan.publication_name)
    taken = publication is not None and (publication.all_tables or not plan.may_use(PUBLICATION))
    if plan.publication_mode is PublicationMode.EXISTING or taken:
        # Nothing is made; or no role may take it, and `publication_available` has said so.
        return None
    expected = "may make or change the publication"
    stays = publication is not None and not _is_rewritten(publication, plan)
    lacking = [] if facts.role.superuser or stays else _lacking_rights(facts, plan, publication)
    if not lacking:
        return passed("sufficient", expected)
    return failed(name_list(right for right, _ in lacking), expected, _owners_advice(facts, plan, lacking))


def _owners_advice(
    facts: PostgreSQLServerFacts, plan: PostgreSQLCapturePlan, lacking: Sequence[tuple[str, str]]
) -> str:
    # First what changes no right of anybody; then a role that has the owner's.
    publication, name = facts.publication(plan.publication_name), quoted(plan.publication_name)
    if publication is None:
        first = _create_publication(plan)
    else:
        missing = [table for table in plan.published_tables if publication.table(table) is None]
        first = f"ALTER PUBLICATION {name} ADD TABLE {', '.join(map(quoted_table, missing or plan.tables[:1]))};"
    return (
        f"As the owner of the tables, or as an administrator:\n{first}\n"
        f"Then name {plan.publication_name} in the pipeline: in the console's Start as "
        f'"Publication that exists already", else as publication_name with publication_mode existing. '
        f"Or let Debezium make it, with these rights:\n{statements([fix for _, fix in lacking if fix])}"
    )


def _right_to_create(facts: PostgreSQLServerFacts) -> Judgement:
    expected = "may create one, or one is made beforehand"
    if facts.role.superuser or facts.role.can_create_in_database:
        return passed("may create one", expected)
    return warned("may not create one", expected, f"{_grant_create(facts)} Or make the publication beforehand.")


def _grant_create(facts: PostgreSQLServerFacts) -> str:
    return f"GRANT CREATE ON DATABASE {quoted(facts.database)} TO {quoted(facts.role.name)};"


def _create_publication(plan: PostgreSQLCapturePlan) -> str:
    """The statement that makes what the plan needs, with all of its tables: a part of them would lose the others."""
    tables = ", ".join(map(quoted_table, plan.published_tables))
    return (
        f"CREATE PUBLICATION {quoted(plan.publication_name)} FOR TABLE {tables} "
        "WITH (publish_via_partition_root = true);"
    )


def _lacking_rights(
    facts: PostgreSQLServerFacts, plan: PostgreSQLCapturePlan, publication: PublicationFacts | None
) -> list[tuple[str, str]]:
    """What the role lacks, each with its fix."""
    foreign = [table for table in _published(facts, plan) if not table.owned]
    lacking, owners = [], {table.owner: table for table in reversed(foreign)}
    if publication is None and not facts.role.can_create_in_database:
        lacking.append(("no CREATE on the database", _grant_create(facts)))
    if publication is not None and not publication.owned:
        lacking.append(("not owner of the publication", "-- choose a publication_name that does not exist yet"))
    return lacking + [
        (f"not owner of {table.name}", _act_as(facts, table.owner) if owners[table.owner] is table else "")
        for table in foreign
    ]


def _act_as(facts: PostgreSQLServerFacts, owner: str | None) -> str:
    if owner is None:
        return "-- Tables of a superuser: nobody should get its rights. Make the publication."
    # A group between owner and capture: dropping it takes the right away again. Names have at most 63 bytes.
    role, group = quoted(facts.role.name), quoted(f"{facts.role.name}_for_{owner}"[:63])
    return (
        f"-- Through this group the role has every right of {owner}: a decision about security.\n"
        f"CREATE ROLE {group} NOLOGIN;\nGRANT {quoted(owner)} TO {group};\nGRANT {group} TO {role};"
    )


@readiness_check(
    "publication_operations",
    name="Published kinds of change",
    description="Inserts, updates and deletes are published. What is not is lost while the connector runs.",
)
@for_plan
def publication_operations(facts: PostgreSQLServerFacts, plan: PostgreSQLCapturePlan) -> Judgement | None:
    """Every kind of change is published; Debezium never adds one to a publication that exists."""
    publication = facts.publication(plan.publication_name)
    if publication is None:
        return None
    kinds = {"insert": publication.inserts, "update": publication.updates, "delete": publication.deletes}
    published = [kind for kind, is_published in kinds.items() if is_published]
    current, expected = name_list(published) or "nothing", "insert, update, delete"
    if len(published) == len(kinds):
        return passed(current, expected)
    missing = name_list(kind for kind in kinds if kind not in published)
    return (warned if publication.inserts else failed)(
        current,
        expected,
        f"ALTER PUBLICATION {quoted(publication.name)} SET (publish = '{expected}, truncate');\n"
        f"Without it no {missing} reaches a target: rows stay there as they were first written.",
    )


@readiness_check(
    "publication_tables",
    name="Published tables",
    description="The publication has every captured table. Changes of others are lost after the snapshot.",
)
@for_plan
def publication_tables(facts: PostgreSQLServerFacts, plan: PostgreSQLCapturePlan) -> Judgement | None:
    publication = facts.publication(plan.publication_name)
    if publication is None or plan.publication_mode is not PublicationMode.EXISTING:
        return None
    missing = [table for table in _captured(facts, plan) if publication.table(table.name) is None]
    if not missing:
        return passed("all published", "all captured tables")
    current = f"not published: {name_list(table.name for table in missing)}"
    return failed(current, "all captured tables", statements([_add_table(publication, table) for table in missing]))


def _add_table(publication: PublicationFacts, table: PostgreSQLRawTable) -> str:
    partitioned = table.kind is RelationKind.PARTITIONED and not publication.via_root
    change = "SET (publish_via_partition_root = true)" if partitioned else f"ADD TABLE {quoted_table(table.name)}"
    return f"ALTER PUBLICATION {quoted(publication.name)} {change};"


@readiness_check(
    "publication_rows",
    name="Published rows and columns",
    description="No row filter and no column list hides part of a captured table, or it hides what nobody needs.",
)
@for_plan
def publication_rows(facts: PostgreSQLServerFacts, plan: PostgreSQLCapturePlan) -> Judgement | None:
    """A row filter or a column list is a choice of the publication's owner, unless it hides what says which row."""
    publication = facts.publication(plan.publication_name)
    if publication is None or _is_rewritten(publication, plan):
        return None
    tables = _published(facts, plan)
    filtered = [table.name for table in tables if _is_filtered(publication, table)]
    cut = [table.name for table in tables if _hidden_columns(publication, table)]
    keyless = [table.name for table in tables if _hidden_key(publication, table)]
    if not filtered and not cut:
        return passed("all rows and columns", "all rows and columns")
    current = listed({"rows filtered": filtered, "columns left out": cut, "columns of the key left out": keyless})
    fixes = [
        f"ALTER PUBLICATION {quoted(publication.name)} DROP TABLE {quoted_table(name)};\n"
        f"ALTER PUBLICATION {quoted(publication.name)} ADD TABLE {quoted_table(name)};"
        for name in dict.fromkeys([*filtered, *cut])
    ]
    return (failed if keyless else warned)(current, "all rows and columns", f"{statements(fixes)}\n{_HIDDEN_EFFECT}")


_HIDDEN_EFFECT = (
    "As it is: the snapshot brings every row and column; later changes come only of rows that the filter lets through, "
    "and without the columns left out. A column list without the columns of the replica identity makes UPDATE and "
    "DELETE fail for the owners of the table."
)


def _is_filtered(publication: PublicationFacts, table: PostgreSQLRawTable) -> bool:
    published = publication.table(table.name)
    return published is not None and published.row_filter


def _hidden_key(publication: PublicationFacts, table: PostgreSQLRawTable) -> bool:
    """Whether the columns left out are needed to say which row was changed."""
    old_row = identity_columns(table) if publication.updates or publication.deletes else ()
    return not {*old_row, *table.primary_key_columns}.isdisjoint(_hidden_columns(publication, table))


def _hidden_columns(publication: PublicationFacts, table: PostgreSQLRawTable) -> list[str]:
    published = publication.table(table.name)
    if published is None or published.columns is None:
        return []
    return [c.name for c in table.raw_columns if c.generated is None and c.name not in published.columns]


@readiness_check(
    "partitioned_tables",
    name="Partitioned tables",
    description="Changes of a partitioned table are published under the name that is captured.",
)
@for_plan
def partitioned_tables(facts: PostgreSQLServerFacts, plan: PostgreSQLCapturePlan) -> Judgement | None:
    tables = [table.name for table in _captured(facts, plan) if table.kind is RelationKind.PARTITIONED]
    if not tables:
        return None
    publication = facts.publication(plan.publication_name)
    via_root = publication.via_root if publication is not None else plan.publishes_partition_root
    expected = "changes published under the partitioned table"
    if via_root or (publication is None and plan.publication_mode is PublicationMode.EXISTING):
        return passed("as expected", expected)
    fix = (
        f"ALTER PUBLICATION {quoted(plan.publication_name)} SET (publish_via_partition_root = true);"
        if publication is not None
        else f"Make it beforehand: {_create_publication(plan)}"
        f"\nOr leave the property {PARTITION_ROOT_PROPERTY} out of the pipeline."
    )
    return failed(f"published under their partitions: {name_list(tables)}", expected, fix)


def _captured(facts: PostgreSQLServerFacts, plan: PostgreSQLCapturePlan) -> list[PostgreSQLRawTable]:
    """Those that exist and can be published at all; the check of the tables names the others."""
    return [table for table in captured(facts, plan) if table.kind.is_table]


def _published(facts: PostgreSQLServerFacts, plan: PostgreSQLCapturePlan) -> list[PostgreSQLRawTable]:
    """The captured tables, and the one of the heartbeat."""
    heartbeat = facts.table(plan.heartbeat_table) if plan.heartbeat_table else None
    tables = _captured(facts, plan)
    return [*tables, heartbeat] if heartbeat is not None and plan.heartbeat_table not in plan.tables else tables
