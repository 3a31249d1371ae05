"""Whether topics can be delivered to tables of a database, whatever its kind, and what to know first."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from chalicelib.domain.checks.delivery import (
    Captured,
    captured_tables,
    count_problems,
    discovery_problems,
    field_problem,
    mapping_problem,
    repeated,
    repetition_problems,
    stops_capture,
    topic_problems,
    topic_warnings,
    type_warnings,
)
from chalicelib.domain.checks.topics import old_topic_warnings
from chalicelib.domain.cluster import TopicFacts
from chalicelib.domain.connector_config import ConfigWarning
from chalicelib.domain.delivery import DeliveryVerdict, TableMapping, TableWriting
from chalicelib.domain.pipeline import Converter, Pipeline, Representation
from chalicelib.domain.table import SourceTable, TableName
from chalicelib.errors import Conflict, HeadgateError, Invalid


@dataclass(frozen=True, slots=True, kw_only=True)
class NameRule:
    """A rule for a mapping's `schema_name` or `table_name`: `type` is for machines, `message` for people."""

    field: str
    type: str
    message: str
    is_broken: Callable[[str], bool]


NO_DOT = NameRule(
    field="table_name",
    type="dot",
    message="The sink turns a dot in a table's name into an underscore. Choose a name without.",
    is_broken=lambda name: "." in name,
)


def check_mappings(
    pipeline: Pipeline,
    tables: Mapping[TableName, SourceTable],
    writing: TableWriting,
    tasks_max: int,
    facts: TopicFacts | None,
    *,
    name_rules: Sequence[NameRule],
    unsupported_columns: Callable[[SourceTable], Sequence[str]],
) -> DeliveryVerdict:
    """Judge a delivery as far as nothing has to be read from the target: see `TargetProvider.check_mappings`.

    `name_rules` say what names must not be, in the order in which it is said. `unsupported_columns` are those at which
    every delivery of a table to such a target stops.
    """
    captured, mappings = captured_tables(pipeline, tables), writing.mappings
    topics = [mapping.topic for mapping in mappings]
    problems: tuple[HeadgateError, ...] = (
        *_converter_problems(pipeline),
        *_representation_problems(pipeline),
        *count_problems(topics),
        *_schema_problems(mappings),
        *_name_problems(mappings, name_rules),
        *repetition_problems(topics),
        *_conflicts(mappings),
        *topic_problems(topics, captured, facts),
        *discovery_problems(topics, captured),
        *_table_problems(topics, captured, writing, unsupported_columns),
    )
    return DeliveryVerdict(
        problems=problems,
        warnings=(
            *topic_warnings(topics, facts, tasks_max),
            *old_topic_warnings(topics, facts, pipeline.created_at),
            *_option_warnings(writing),
            *_change_warnings(writing),
            *type_warnings(topics, captured),
        ),
    )


def _converter_problems(pipeline: Pipeline) -> Iterator[Invalid]:
    if pipeline.capture.converter is not Converter.JSON_SCHEMA:
        yield Invalid.at(
            "body",
            "pipeline_id",
            type_="converter_without_schema",
            message="The sink needs records that carry their schema. Choose a pipeline whose converter is "
            "json_schema, or make a new one: a pipeline keeps its converter.",
        )


def _representation_problems(pipeline: Pipeline) -> Iterator[Invalid]:
    if pipeline.capture.options.representation is Representation.READABLE:
        yield Invalid.at(
            "body",
            "pipeline_id",
            type_="readable_representation",
            message="This pipeline writes numbers and times as text, for files. A database needs a pipeline with the "
            "representation exact.",
        )


def _schema_problems(mappings: Sequence[TableMapping]) -> Iterator[Invalid]:
    if len({mapping.schema_name for mapping in mappings}) > 1:
        yield Invalid.at(
            "body",
            "mappings",
            type_="one_schema",
            message="All mappings of a delivery share one target schema. Make one delivery for each schema.",
        )


def _name_problems(mappings: Sequence[TableMapping], rules: Sequence[NameRule]) -> Iterator[Invalid]:
    for rule in rules:
        broken = [index for index, mapping in enumerate(mappings) if rule.is_broken(getattr(mapping, rule.field))]
        yield from field_problem(broken, rule.field, rule.type, rule.message)


def _conflicts(mappings: Sequence[TableMapping]) -> Iterator[Conflict]:
    if indexes := repeated(mapping.target for mapping in mappings):
        yield Conflict(
            "Two topics would be written to the same table. Give each a table_name of its own.",
            code="TARGET_TABLE_CONFLICT",
            details={"mappings": indexes},
        )


def _table_problems(
    topics: Sequence[str],
    captured: Captured,
    writing: TableWriting,
    unsupported_columns: Callable[[SourceTable], Sequence[str]],
) -> Iterator[Invalid]:
    tables = [(index, table) for index, topic in enumerate(topics) if (table := captured.get(topic))]
    if writing.upserts:
        keyless = [index for index, table in tables if not table.primary_key_columns]
        message = (
            "A source table has no primary key, so its rows cannot be upserted. Use write_mode insert, or add one."
        )
        yield from mapping_problem(keyless, "KEY_REQUIRED", message)
    stopped = [index for index, table in tables if stops_capture(table) or unsupported_columns(table)]
    message = (
        "A source table has a column that would stop the sink. Discovery names the column and its type: leave it out "
        "with options.exclude_columns of the pipeline."
    )
    yield from mapping_problem(stopped, "TYPE_UNSUPPORTED", message)


def _option_warnings(writing: TableWriting) -> Iterator[ConfigWarning]:
    if writing.auto_create and not writing.auto_evolve:
        message = "The sink has one switch for both: it will make missing tables and also add missing columns."
        yield ConfigWarning(code="AUTO_CREATE_EVOLVES", message=message)
    if writing.auto_evolve and not writing.auto_create:
        message = (
            "The sink has one switch for both: it will add missing columns and also make a table that does not exist."
        )
        yield ConfigWarning(code="AUTO_EVOLVE_CREATES", message=message)
    if not writing.upserts:
        message = "Rows are only ever added: an update becomes another row, and a repeated record too."
        yield ConfigWarning(code="INSERT_REPEATS", message=message)
    if not writing.upserts and writing.delete_enabled:
        message = "Deletes are not delivered with write_mode insert; they need upsert."
        yield ConfigWarning(code="DELETES_NOT_DELIVERED", message=message)


def _change_warnings(writing: TableWriting) -> Iterator[ConfigWarning]:
    """What later changes at the source do to the target."""
    yield ConfigWarning(
        code="TRUNCATE_NOT_DELIVERED",
        message="A TRUNCATE at the source is not delivered: the rows stay in the target. Use DELETE, or truncate both.",
    )
    if writing.evolves:
        message = (
            "Later changes of a source table: an added column arrives, but rows that are in the target already get no "
            "values of the source in it, only the column's default. "
            "A renamed column arrives as a new one, and the old one keeps its last values. "
            "A dropped column stays in the target, and stops the delivery where it is NOT NULL without a default."
        )
        yield ConfigWarning(code="SCHEMA_CHANGES", message=message)
        message = (
            "A target table that somebody drops later is made again by the sink, with only the changes that come after "
            "that: the rows before are missing. Headgate tells it within a minute or two (TARGET_REPLACED)."
        )
        yield ConfigWarning(code="AUTO_CREATE_AFTER_DROP", message=message)
