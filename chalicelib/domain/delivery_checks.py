"""Whether topics of a pipeline can be delivered to tables of a database, whatever its kind, and what to know first."""

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence

from chalicelib.domain.cluster import TopicFacts
from chalicelib.domain.connector_config import ConfigWarning
from chalicelib.domain.delivery import DeliveryOptions, DeliveryVerdict, NameRule
from chalicelib.domain.delivery import Mapping as TopicMapping
from chalicelib.domain.names import name_list
from chalicelib.domain.pipeline import Converter, Pipeline
from chalicelib.domain.providers.contract import TargetProvider
from chalicelib.domain.table import IssueCode, Severity, SourceTable, TableName
from chalicelib.errors import Conflict, HeadgateError, Invalid

MAX_MAPPINGS = 500


def check_mappings(
    pipeline: Pipeline,
    tables: Mapping[TableName, SourceTable],
    mappings: Sequence[TopicMapping],
    options: DeliveryOptions,
    topics: TopicFacts | None,
    target: TargetProvider,
) -> DeliveryVerdict:
    """Judge the mappings of one delivery to a database, as far as nothing has to be read from the target.

    `tables` are the discovered tables of the pipeline's source; `topics` those of its stream cluster, or None when they
    could not be read, which becomes a warning. Problems carry the codes of the wire contract; `details` name mappings
    by their index.
    """
    by_topic = {pipeline.capture.topic(name): name for name in pipeline.capture.tables}
    captured = {mapping.topic: tables.get(by_topic[mapping.topic]) for mapping in mappings if mapping.topic in by_topic}
    problems = (
        *_check_pipeline(pipeline),
        *_check_targets(mappings, target.name_rules),
        *_check_topics(mappings, by_topic, topics),
        *_check_tables(mappings, captured, options, target),
    )
    discovered = [table for table in captured.values() if table is not None]
    return DeliveryVerdict(
        problems=problems,
        warnings=(
            *_topic_warnings(mappings, topics, options),
            *_option_warnings(options),
            *_change_warnings(options),
            *_type_warnings(discovered),
        ),
    )


def _check_pipeline(pipeline: Pipeline) -> Iterator[HeadgateError]:
    if pipeline.capture.converter is not Converter.JSON_SCHEMA:
        yield Invalid.at(
            "body",
            "pipeline_id",
            type_="converter_without_schema",
            message="The sink needs records that carry their schema: the pipeline must use the converter json_schema.",
        )


def _check_targets(mappings: Sequence[TopicMapping], rules: Sequence[NameRule]) -> Iterator[HeadgateError]:
    if not 0 < len(mappings) <= MAX_MAPPINGS:
        yield Invalid.at("body", "mappings", type_="length", message=f"A delivery has 1 to {MAX_MAPPINGS} mappings.")
    if len({mapping.schema_name for mapping in mappings}) > 1:
        yield Invalid.at(
            "body",
            "mappings",
            type_="one_schema",
            message="All mappings of a delivery share one target schema: use one delivery each.",
        )
    for rule in rules:
        broken = [index for index, mapping in enumerate(mappings) if rule.is_broken(getattr(mapping, rule.field))]
        yield from _field_problem(broken, rule.field, rule.type, rule.message)
    repeated = _repeated(mapping.topic for mapping in mappings)
    yield from _field_problem(repeated, "topic", "duplicate", "A topic may be mapped once per delivery.")
    if repeated := _repeated(mapping.target for mapping in mappings):
        yield Conflict(
            "Two topics would be written to the same table. Give each its own.",
            code="TARGET_TABLE_CONFLICT",
            details={"mappings": repeated},
        )


def _check_topics(
    mappings: Sequence[TopicMapping], by_topic: Mapping[str, TableName], topics: TopicFacts | None
) -> Iterator[HeadgateError]:
    foreign = [index for index, mapping in enumerate(mappings) if mapping.topic not in by_topic]
    yield from _problem(foreign, "TOPIC_NOT_IN_PIPELINE", "A mapping names a topic that the pipeline does not write.")
    if topics is not None:
        missing = by_topic.keys() - topics.partitions.keys()
        absent = [index for index, mapping in enumerate(mappings) if mapping.topic in missing]
        message = "A topic is not there yet. Deploy the pipeline first; an empty table gets one with its first row."
        yield from _problem(absent, "TOPIC_NOT_FOUND", message)


def _check_tables(
    mappings: Sequence[TopicMapping],
    captured: Mapping[str, SourceTable | None],
    options: DeliveryOptions,
    target: TargetProvider,
) -> Iterator[HeadgateError]:
    ours = [(index, captured[mapping.topic]) for index, mapping in enumerate(mappings) if mapping.topic in captured]
    unknown = [index for index, table in ours if table is None]
    message = "A source table has not been discovered. Run discovery on the source."
    yield from _problem(unknown, "TABLE_NOT_DISCOVERED", message)
    if options.upserts:
        keyless = [index for index, table in ours if table is not None and not table.primary_key_columns]
        message = "A source table has no primary key, so its rows cannot be upserted. Use write_mode insert."
        yield from _problem(keyless, "KEY_REQUIRED", message)
    stopped = [index for index, table in ours if table and (_stops_capture(table) or target.unsupported_columns(table))]
    message = "A source table has a column that would stop the sink. Discovery names the column and its type."
    yield from _problem(stopped, "TYPE_UNSUPPORTED", message)


def _stops_capture(table: SourceTable) -> bool:
    """Whether the table's columns stop the pipeline itself, so that nothing arrives."""
    stopping = (IssueCode.TYPE_STOPS_TASK, IssueCode.COLUMNS_DIFFER_BY_CASE)
    return any(issue.code in stopping and issue.severity is Severity.FAIL for issue in table.issues)


def _topic_warnings(
    mappings: Sequence[TopicMapping], topics: TopicFacts | None, options: DeliveryOptions
) -> Iterator[ConfigWarning]:
    if topics is None:
        yield ConfigWarning(
            code="TOPICS_NOT_CHECKED", message="Kafka could not be read: whether the topics exist is unknown."
        )
        return
    mapped = {mapping.topic for mapping in mappings}
    if truncated := sorted(mapped & topics.truncated):
        message = (
            f"The first records of {name_list(truncated)} are gone: rows captured before do not arrive in the target. "
            "For all rows, create a new pipeline with snapshot_mode initial and deliver its topics."
        )
        yield ConfigWarning(code="TOPIC_TRUNCATED", message=message)
    if unread := sorted(mapped & topics.unread):
        message = f"Whether {name_list(unread)} still begin with their first record could not be read from Kafka."
        yield ConfigWarning(code="TOPICS_NOT_CHECKED", message=message)
    parted = sorted(topic for topic in mapped if topics.partitions.get(topic, 0) > 1)
    if parted and options.tasks_max > 1:
        message = (
            f"{name_list(parted)} have several partitions and the delivery several tasks: only changes of one key "
            "arrive in their order. A changed primary key is a delete and an insert under two keys, in either order."
        )
        yield ConfigWarning(code="ORDER_PER_KEY", message=message)


def _option_warnings(options: DeliveryOptions) -> Iterator[ConfigWarning]:
    if options.auto_create and not options.auto_evolve:
        message = "The sink has one switch for both: it will make missing tables and also add missing columns."
        yield ConfigWarning(code="AUTO_CREATE_EVOLVES", message=message)
    if options.auto_evolve and not options.auto_create:
        message = (
            "The sink has one switch for both: it will add missing columns and also make a table that does not exist."
        )
        yield ConfigWarning(code="AUTO_EVOLVE_CREATES", message=message)
    if not options.upserts:
        message = "Rows are only ever added: an update becomes another row, and a repeated record too."
        yield ConfigWarning(code="INSERT_REPEATS", message=message)
    if not options.upserts and options.delete_enabled:
        message = "Deletes are not delivered with write_mode insert; they need upsert."
        yield ConfigWarning(code="DELETES_NOT_DELIVERED", message=message)


def _change_warnings(options: DeliveryOptions) -> Iterator[ConfigWarning]:
    """What later changes at the source do to the target."""
    yield ConfigWarning(
        code="TRUNCATE_NOT_DELIVERED",
        message="A TRUNCATE at the source is not delivered: the rows stay in the target. Use DELETE, or truncate both.",
    )
    if options.evolves:
        message = (
            "Later changes of a source table: an added column arrives, but rows that are in the target already get no "
            "values of the source in it, only the column's default. "
            "A renamed column arrives as a new one, and the old one keeps its last values. "
            "A dropped column stays in the target, and stops the delivery where it is NOT NULL without a default."
        )
        yield ConfigWarning(code="SCHEMA_CHANGES", message=message)


_PASSED_ON = {
    IssueCode.TYPE_CHANGES_VALUE: "Values of columns {columns} in {table} change on the way.",
    IssueCode.TYPE_NOT_CAPTURED: "Columns {columns} in {table} are not captured at all.",
}


def _type_warnings(tables: Iterable[SourceTable]) -> Iterator[ConfigWarning]:
    for table in tables:
        issues = [issue for issue in table.issues if issue.severity is not Severity.INFO]
        for code, sentence in _PASSED_ON.items():
            columns = [issue.column or "some columns" for issue in issues if issue.code is code]
            if columns:
                message = sentence.format(columns=name_list(columns), table=table.name)
                yield ConfigWarning(code=str(code), message=message)


def _repeated(values: Iterable[Hashable]) -> list[int]:
    """The indexes of values that occur earlier in the list."""
    first: dict[Hashable, int] = {}
    return [index for index, value in enumerate(values) if first.setdefault(value, index) != index]


def _field_problem(indexes: Sequence[int], field: str, type_: str, message: str) -> Iterator[Invalid]:
    if indexes:
        details = [{"location": ["body", "mappings", index, field], "type": type_} for index in indexes]
        yield Invalid(message, details=details)


def _problem(indexes: Sequence[int], code: str, message: str) -> Iterator[Invalid]:
    if indexes:
        yield Invalid(message, code=code, details={"mappings": list(indexes)})
