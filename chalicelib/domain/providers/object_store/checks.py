"""Whether topics can be delivered to files, and what to know first."""

from collections.abc import Iterator, Mapping, Sequence

from chalicelib.domain.checks.delivery import (
    captured_tables,
    count_problems,
    discovery_problems,
    repetition_problems,
    topic_problems,
    topic_warnings,
)
from chalicelib.domain.checks.topics import old_topic_warnings
from chalicelib.domain.cluster import TopicFacts
from chalicelib.domain.connection_checks import CheckStatus, TestResult
from chalicelib.domain.delivery import DeliveryVerdict
from chalicelib.domain.object_store import DEFAULT_TEMPLATE, FileShape, FileWriting
from chalicelib.domain.pipeline import Pipeline
from chalicelib.domain.providers.object_store.plugins import sink_of
from chalicelib.domain.providers.object_store.warnings import table_warnings
from chalicelib.domain.table import SourceTable, TableName
from chalicelib.errors import HeadgateError, Invalid


def check_mappings(
    pipeline: Pipeline,
    tables: Mapping[TableName, SourceTable],
    writing: FileWriting,
    tasks_max: int,
    facts: TopicFacts | None,
) -> DeliveryVerdict:
    """Judge a delivery as far as nothing has to be read from the bucket: see `TargetProvider.check_mappings`."""
    captured, topics = captured_tables(pipeline, tables), list(writing.targets)
    problems: tuple[HeadgateError, ...] = (
        *count_problems(topics),
        *repetition_problems(topics),
        *topic_problems(topics, captured, facts),
        *discovery_problems(topics, captured),
        *_shape_problems(writing),
        *_plugin_problems(writing),
    )
    delivered = [table for topic in topics if (table := captured.get(topic)) is not None]
    return DeliveryVerdict(
        problems=problems,
        warnings=(
            *topic_warnings(topics, facts, tasks_max),
            *old_topic_warnings(topics, facts, pipeline.created_at),
            *table_warnings(delivered, pipeline.capture.options.representation),
        ),
    )


def judge_bucket(test: TestResult) -> DeliveryVerdict:
    """What a look at the bucket has found forbids the delivery when something failed."""
    failed = [check for check in test.checks if check.status is CheckStatus.FAILED]
    problems: Sequence[HeadgateError] = [
        Invalid(
            check.message,
            code="TARGET_NOT_READY",
            details={"checks": [{"name": one.name, "code": one.code, "message": one.message} for one in failed]},
        )
        for check in failed[:1]
    ]
    return DeliveryVerdict(problems=tuple(problems), warnings=())


def _shape_problems(writing: FileWriting) -> Iterator[Invalid]:
    # Without its schema a record is no change to Debezium's transform, which lets it pass (tried with Debezium 3.6).
    if writing.shape is FileShape.ROW and not writing.has_schemas:
        message = "Rows are taken from records that carry their schema: use the shape envelope, or a pipeline with the "
        yield Invalid.at("body", "shape", type_="converter_without_schema", message=f"{message}converter json_schema.")


def _plugin_problems(writing: FileWriting) -> Iterator[Invalid]:
    if writing.plugin is None:
        return
    sink = sink_of(writing.plugin)
    if not sink.names_files and writing.file_name_template != DEFAULT_TEMPLATE:
        message = f"{sink.title} names files by itself. Leave file_name_template out; the preview shows the names."
        yield _at("file_name_template", message)
    if not sink.reads_topics and len(writing.targets) > 1:
        message = f"{sink.title} writes one topic for each connector. Make a delivery for each topic."
        yield _at("mappings", message)
    if not sink.reads_records and writing.shape is FileShape.ROW:
        message = f"{sink.title} writes records as they are. Use the shape envelope."
        yield _at("shape", message)


def _at(field: str, message: str) -> Invalid:
    return Invalid.at("body", field, type_="not_with_plugin", message=message)
