"""Whether topics of a pipeline can be delivered, and what to know first: what holds for every kind of destination.

The checks of one kind are these and its own, the most basic first. Problems carry the codes of the
wire contract, and name mappings by their index.
"""

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence

from chalicelib.domain.cluster import TopicFacts
from chalicelib.domain.connector_config import ConfigWarning
from chalicelib.domain.names import name_list
from chalicelib.domain.pipeline import Pipeline
from chalicelib.domain.table import IssueCode, IssueSeverity, SourceTable, TableName
from chalicelib.errors import Invalid, fault

MAX_MAPPINGS = 500

Captured = Mapping[str, SourceTable | None]
"""The tables that a pipeline captures by their topics; None where discovery has not found one."""


def captured_tables(pipeline: Pipeline, tables: Mapping[TableName, SourceTable]) -> Captured:
    """`tables` are the discovered tables of the pipeline's source."""
    return {pipeline.capture.topic(name): tables.get(name) for name in pipeline.capture.tables}


def count_problems(topics: Sequence[str]) -> Iterator[Invalid]:
    if not 0 < len(topics) <= MAX_MAPPINGS:
        message = f"A delivery has 1 to {MAX_MAPPINGS} mappings."
        yield Invalid.at("body", "mappings", type_="length", message=message, limit=MAX_MAPPINGS if topics else 1)


def repetition_problems(topics: Sequence[str]) -> Iterator[Invalid]:
    yield from field_problem(
        repeated(topics),
        "topic",
        "duplicate",
        "A topic may be mapped once per delivery. Take the second mapping out, or make another delivery.",
    )


def topic_problems(topics: Sequence[str], captured: Captured, facts: TopicFacts | None) -> Iterator[Invalid]:
    """`facts` are those of the pipeline's stream cluster, or None when they could not be read."""
    foreign = [index for index, topic in enumerate(topics) if topic not in captured]
    yield from mapping_problem(
        foreign,
        "TOPIC_NOT_IN_PIPELINE",
        f"A mapping names a topic that the pipeline does not write. Its topics are {name_list(sorted(captured))}.",
    )
    if facts is not None:
        missing = captured.keys() - facts.partitions.keys()
        absent = [index for index, topic in enumerate(topics) if topic in missing]
        message = "A topic is not there yet. Deploy the pipeline first; an empty table gets one with its first row."
        yield from mapping_problem(absent, "TOPIC_NOT_FOUND", message)


def discovery_problems(topics: Sequence[str], captured: Captured) -> Iterator[Invalid]:
    unknown = [index for index, topic in enumerate(topics) if topic in captured and captured[topic] is None]
    message = "A source table has not been discovered. Run discovery on the source."
    yield from mapping_problem(unknown, "TABLE_NOT_DISCOVERED", message)


def stops_capture(table: SourceTable) -> bool:
    """Whether the table's columns stop the pipeline itself, so that nothing arrives."""
    stopping = (IssueCode.TYPE_STOPS_TASK, IssueCode.COLUMNS_DIFFER_BY_CASE)
    return any(issue.code in stopping and issue.severity is IssueSeverity.FAIL for issue in table.issues)


def topic_warnings(topics: Sequence[str], facts: TopicFacts | None, tasks_max: int) -> Iterator[ConfigWarning]:
    if facts is None:
        yield ConfigWarning(
            code="TOPICS_NOT_CHECKED", message="Kafka could not be read: whether the topics exist is unknown."
        )
        return
    mapped = set(topics)
    if truncated := sorted(mapped & facts.truncated):
        message = (
            f"The first records of {name_list(truncated)} are gone: rows captured before do not arrive in the target. "
            "For all rows, create a new pipeline with snapshot_mode initial and deliver its topics."
        )
        yield ConfigWarning(code="TOPIC_TRUNCATED", message=message)
    if unread := sorted(mapped & facts.unread):
        message = f"Whether {name_list(unread)} still begin with their first record could not be read from Kafka."
        yield ConfigWarning(code="TOPICS_NOT_CHECKED", message=message)
    parted = sorted(topic for topic in mapped if facts.partitions.get(topic, 0) > 1)
    if parted and tasks_max > 1:
        message = (
            f"{name_list(parted)} have several partitions and the delivery several tasks: only changes of one key "
            "arrive in their order. A changed primary key is a delete and an insert under two keys, in either order."
        )
        yield ConfigWarning(code="ORDER_PER_KEY", message=message)


_PASSED_ON = {
    IssueCode.TYPE_CHANGES_VALUE: "Values of columns {columns} in {table} change on the way.",
    IssueCode.TYPE_NOT_CAPTURED: "Columns {columns} in {table} are not captured at all.",
}


def type_warnings(topics: Sequence[str], captured: Captured) -> Iterator[ConfigWarning]:
    for table in filter(None, map(captured.get, dict.fromkeys(topics))):
        issues = [issue for issue in table.issues if issue.severity is not IssueSeverity.INFO]
        for code, sentence in _PASSED_ON.items():
            columns = [issue.column or "some columns" for issue in issues if issue.code is code]
            if columns:
                message = sentence.format(columns=name_list(columns), table=table.name)
                yield ConfigWarning(code=str(code), message=message)


def repeated(values: Iterable[Hashable]) -> list[int]:
    """The indexes of values that occur earlier in the list."""
    first: dict[Hashable, int] = {}
    return [index for index, value in enumerate(values) if first.setdefault(value, index) != index]


def field_problem(indexes: Sequence[int], field: str, type_: str, message: str) -> Iterator[Invalid]:
    """A problem at a field of the mappings with these indexes; none without an index."""
    if indexes:
        yield Invalid.of([fault("body", "mappings", index, field, type_=type_, message=message) for index in indexes])


def mapping_problem(indexes: Sequence[int], code: str, message: str) -> Iterator[Invalid]:
    """A problem of the mappings with these indexes; none without an index."""
    if indexes:
        yield Invalid(message, code=code, details={"mappings": list(indexes)})
