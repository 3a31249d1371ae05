"""What the changes of a schema mean for deployed pipelines and deliveries, in sentences that name them.

A capture goes on with almost every change: the log has the records of the new schema. What goes wrong is in targets,
whose sinks add columns and change nothing else.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from chalicelib.domain.delivery import Delivery
from chalicelib.domain.object_store import FileWriting
from chalicelib.domain.observation import DesiredState
from chalicelib.domain.pipeline import Pipeline
from chalicelib.domain.schema.change import Alteration, SchemaChange, SchemaImpact
from chalicelib.domain.schema.version import Affected, SchemaVersion

MAX_AFFECTED = 100
"""Pipelines and deliveries that a version names."""

MAX_SENTENCES = 5
"""Of one pipeline or delivery: the version has all changes."""

_FOR_PIPELINES: Mapping[Alteration, str] = {
    Alteration.TABLE_DROPPED: "table {table} does not exist any more, or its account does not see it: nothing more is "
    "captured of it",
    Alteration.TABLE_ADDED_AGAIN: "table {table} was dropped and made again: its status says whether the new table is "
    "captured",
    Alteration.PRIMARY_KEY_CHANGED: "the primary key of {table} is {after} and was {before}: its records have another "
    "key than before",
    Alteration.REPLICA_IDENTITY_CHANGED: "the replica identity of {table} is {after} and was {before}: updates carry "
    "other old values",
}

_KEPT = "the target keeps the column with its last values"
_FOR_DELIVERIES: Mapping[Alteration, str] = {
    Alteration.TABLE_DROPPED: "table {table} does not exist any more at the source: the target keeps its last rows",
    Alteration.TABLE_ADDED_AGAIN: "table {table} was dropped and made again at the source: the target keeps the "
    "rows of the former table",
    Alteration.COLUMN_WITH_DEFAULT_ADDED: "column {column} of {table} is new and has a default: rows that the target "
    "has already do not get the values that the source has filled in",
    Alteration.REQUIRED_COLUMN_ADDED: "column {column} of {table} is new and NOT NULL: the task stops where the target "
    "has rows already",
    Alteration.NULLABLE_COLUMN_DROPPED: f"column {{column}} of {{table}} was dropped: {_KEPT}",
    Alteration.REQUIRED_COLUMN_DROPPED: f"column {{column}} of {{table}} was dropped: {_KEPT}, and the task stops "
    "where it is NOT NULL there",
    Alteration.COLUMN_PROBABLY_RENAMED: "column {before} of {table} was probably renamed to {after}: the target keeps "
    "the old column with its last values and gets a new one",
    Alteration.TYPE_WIDENED: "the type of column {column} of {table} is {after} and was {before}: the target keeps the "
    "old type, and the task stops at a value that is too large for it",
    Alteration.TYPE_NARROWED: "the type of column {column} of {table} is {after} and was {before}: what the source has "
    "cut off its rows stays in the target",
    Alteration.TYPE_CHANGED: "the type of column {column} of {table} is {after} and was {before}: the target keeps the "
    "old type, and the task may stop",
    Alteration.NULLS_ALLOWED: "column {column} of {table} may be null now: the task stops at a null where the target "
    "has it as NOT NULL",
    Alteration.GENERATION_CHANGED: "the values of column {column} of {table} are generated in another way than before: "
    "they may not arrive any more",
    Alteration.CHARACTER_SET_CHANGED: "the character set of column {column} of {table} is {after} and was {before}: "
    "the target may lack some of its characters",
    Alteration.PRIMARY_KEY_CHANGED: "the primary key of {table} is {after} and was {before}: the target has rows "
    "under the old key, and they are not found by the new one",
    Alteration.UNIQUE_KEY_DROPPED: "the unique key {before} of {table} was dropped: the task stops at a row that the "
    "same key of the target refuses",
}
"""Kinds without a sentence mean nothing for what runs."""

_ADDS_NONE = "and the delivery adds no columns (auto_create, auto_evolve): its task stops at the next row"
_WITHOUT_NEW_COLUMNS: Mapping[Alteration, str] = {
    Alteration.NULLABLE_COLUMN_ADDED: f"column {{column}} of {{table}} is new, {_ADDS_NONE}",
    Alteration.COLUMN_WITH_DEFAULT_ADDED: f"column {{column}} of {{table}} is new, {_ADDS_NONE}",
    Alteration.REQUIRED_COLUMN_ADDED: f"column {{column}} of {{table}} is new, {_ADDS_NONE}",
    Alteration.COLUMN_PROBABLY_RENAMED: "column {before} of {table} was probably renamed to {after}, " + _ADDS_NONE,
}
"""Of a delivery that adds no columns, instead of the sentences above."""

_FOR_FILES: Mapping[Alteration, str] = {
    Alteration.TABLE_DROPPED: "table {table} does not exist any more at the source: no lines are added",
    Alteration.TABLE_ADDED_AGAIN: "table {table} was dropped and made again at the source: no line says that the rows "
    "of the former table are gone",
    Alteration.REQUIRED_COLUMN_ADDED: "lines of {table} have the column {column} from now on",
    Alteration.NULLABLE_COLUMN_DROPPED: "lines of {table} lack the column {column} from now on",
    Alteration.REQUIRED_COLUMN_DROPPED: "lines of {table} lack the column {column} from now on",
    Alteration.COLUMN_PROBABLY_RENAMED: "column {before} of {table} was probably renamed: lines have {after} in its "
    "place from now on",
    Alteration.TYPE_CHANGED: "the type of column {column} of {table} is {after} and was {before}: its values may look "
    "otherwise in lines from now on",
    Alteration.PRIMARY_KEY_CHANGED: "the primary key of {table} is {after} and was {before}: its lines have another "
    "key than before",
}
"""Of a delivery to files: what reads them has to follow."""


def needs_look(version: SchemaVersion) -> bool:
    """Whether it may mean something for what runs: that is more than its impact for a delivery that adds no columns."""
    added = any(change.change in _WITHOUT_NEW_COLUMNS for change in version.diff)
    return added or version.impact is not SchemaImpact.NON_BREAKING


def affected(
    version: SchemaVersion, pipelines: Iterable[Pipeline], deliveries: Mapping[str, Sequence[Delivery]]
) -> tuple[Affected, ...]:
    """What is deployed and concerned. `deliveries` are those of each pipeline, by its id."""
    concerned: list[Affected] = []
    for pipeline in pipelines:
        if pipeline.desired_state is DesiredState.DRAFT or version.name not in pipeline.capture.captured_tables:
            continue
        left_out = {one.column_name for one in pipeline.capture.options.exclude_columns if one.table == version.name}
        diff = [change for change in version.diff if change.column not in left_out]
        concerned += _named("pipeline", pipeline, version, _sentences_for_pipeline(diff))
        topic = pipeline.capture.topic(version.name)
        for delivery in deliveries.get(pipeline.id, ()):
            if topic in delivery.topics:
                concerned += _named("delivery", delivery, version, _sentences_for_delivery(diff, delivery))
    return tuple(concerned[:MAX_AFFECTED])


def _sentences_for_pipeline(diff: Iterable[SchemaChange]) -> Iterator[tuple[str, SchemaChange]]:
    return ((_FOR_PIPELINES[change.change], change) for change in diff if change.change in _FOR_PIPELINES)


def _sentences_for_delivery(diff: Iterable[SchemaChange], delivery: Delivery) -> Iterator[tuple[str, SchemaChange]]:
    sentences = _sentences_of(delivery)
    return ((sentences[change.change], change) for change in diff if change.change in sentences)


def _sentences_of(delivery: Delivery) -> Mapping[Alteration, str]:
    if isinstance(delivery.writing, FileWriting):
        return _FOR_FILES
    return _FOR_DELIVERIES if delivery.writing.evolves else {**_FOR_DELIVERIES, **_WITHOUT_NEW_COLUMNS}


def _named(
    noun: str, resource: Pipeline | Delivery, version: SchemaVersion, sentences: Iterator[tuple[str, SchemaChange]]
) -> Iterator[Affected]:
    texts = [
        text.format(
            table=version.name, column=change.column, before=change.before or "none", after=change.after or "none"
        )
        for text, change in sentences
    ]
    if not texts:
        return
    more = f"; and {len(texts) - MAX_SENTENCES} more changes" if len(texts) > MAX_SENTENCES else ""
    shown = "; ".join(texts[:MAX_SENTENCES])
    sentence = f"{shown[0].upper()}{shown[1:]}{more}."
    yield Affected(type=noun, id=resource.id, name=resource.name, consequence=sentence)
