"""What to know about files before they are written: the warnings of a preview, with stable codes."""

from collections.abc import Iterator, Sequence

from chalicelib.domain.connector_config import ConfigWarning
from chalicelib.domain.database import DatabaseProvider
from chalicelib.domain.names import name_list
from chalicelib.domain.object_store import Compression, FileShape, FileWriting, ObjectStoreAddress
from chalicelib.domain.pipeline import Representation
from chalicelib.domain.providers.object_store import camel, confluent
from chalicelib.domain.providers.object_store.encodings import encodings_of
from chalicelib.domain.providers.object_store.plugins import AIVEN, CAMEL, CONFLUENT, SINKS, FileSink, sink_of
from chalicelib.domain.providers.object_store.sink_config import PART_BYTES, max_records
from chalicelib.domain.providers.object_store.statements import DAYS_OF_UNFINISHED_UPLOADS
from chalicelib.domain.providers.object_store.writing import uses_time
from chalicelib.domain.table import SourceTable

ALWAYS: Sequence[ConfigWarning] = (
    ConfigWarning(
        code="TESTED_FROM_HEADGATE",
        message="The bucket is tested from Headgate. The workers have a network, and perhaps a role, of their own.",
    ),
    ConfigWarning(
        code="HEALTH_BY_LAG",
        message="The sink stays RUNNING when nothing can be written. Whether files are written is seen by the lag of "
        "its consumer group, which is not measured where the metrics_provider of the stream cluster is none.",
    ),
    ConfigWarning(code="SNAPSHOT_READS", message="The rows of the snapshot are lines with op r."),
    ConfigWarning(
        code="TRUNCATE_NOT_DELIVERED",
        message="A TRUNCATE at the source is not delivered: no line says that the rows are gone.",
    ),
)
_ENVELOPES = ConfigWarning(
    code="ENVELOPES",
    message="Lines are changes, not rows: before, after, source, op and ts_ms. A delete is a line with op d.",
)
_AT_LEAST_ONCE = ConfigWarning(
    code="AT_LEAST_ONCE",
    message="The same record may be in two files after a failure. Tell records apart by __topic, __partition and "
    "__offset.",
)
_REPEATED = ConfigWarning(
    code="AT_LEAST_ONCE",
    message="The same record may be in two files after a failure. Tell records apart by `source` and the key.",
)
_OBJECTS_REWRITTEN = ConfigWarning(
    code="OBJECTS_REWRITTEN",
    message="A file may be written again until the workers have committed its offsets. Do not read the newest one of a "
    "partition.",
)
_ORPHAN_UPLOADS = ConfigWarning(
    code="ORPHAN_UPLOADS",
    message="A worker that ends in the middle of an upload leaves its parts, which cost money and are not listed. Set "
    f"the lifecycle rule of `setup`, which removes them after {DAYS_OF_UNFINISHED_UPLOADS} days.",
)
_PLUGIN_LICENSE = ConfigWarning(
    code="PLUGIN_LICENSE",
    message="The sink of Confluent is under the Confluent Community License, which is no open-source license.",
)
_DEVELOPMENT_ONLY = ConfigWarning(
    code="DEVELOPMENT_ONLY",
    message="Camel's sink is for development. Install Aiven's or Confluent's S3 sink on the workers for production.",
)
_FILE_NAME_UNSAFE = ConfigWarning(
    code="FILE_NAME_UNSAFE",
    message="The name holds the time of writing: after a failure the same record goes to a file of another name.",
)
_NOT_COMPRESSED = ConfigWarning(
    code="NOT_COMPRESSED", message="This sink does not compress: files are plain text, although compression is gzip."
)
_SCHEMAS_IN_LINES = ConfigWarning(
    code="SCHEMAS_IN_LINES",
    message="Each line holds the schema and, as payload, the change: the pipeline writes both. A pipeline with the "
    "converter json has lines without schemas.",
)


def file_warnings(writing: FileWriting, address: ObjectStoreAddress) -> Iterator[ConfigWarning]:
    """What follows from the plug-in and the options."""
    sink = _sink(writing)
    yield from ALWAYS
    yield from _of_sink(writing)
    yield ConfigWarning(code="WRITTEN_EVERY", message=_written_every(writing))
    if writing.shape is FileShape.ENVELOPE:
        yield _ENVELOPES
    if uses_time(writing.file_name_template):
        yield _FILE_NAME_UNSAFE
    if name := _fixed_name(writing, address):
        message = f"This sink cannot name files by file_name_template. Their names will be {name}."
        yield ConfigWarning(code="FILE_NAME_FIXED", message=message)
    if writing.compression is Compression.GZIP and not sink.compresses:
        yield _NOT_COMPRESSED
    if writing.has_schemas and not sink.reads_records:
        yield _SCHEMAS_IN_LINES


def table_warnings(tables: Sequence[SourceTable], representation: Representation) -> Iterator[ConfigWarning]:
    """What follows from the columns of the delivered tables."""
    readable = representation is Representation.READABLE
    for table in tables:
        for encoding, columns in encodings_of(table, readable=readable):
            message = encoding.message.format(columns=name_list(columns), table=table.name)
            yield ConfigWarning(code=encoding.code, message=message)
        if large := _large_columns(table):
            message = (
                f"Values of {name_list(large)} in {table.name} may be stored apart. When an update leaves one alone, "
                "the line has it as it was when Debezium read the row again, or a placeholder for a row that is gone."
            )
            yield ConfigWarning(code="TOASTED_VALUES", message=message)


def path_warnings(writing: FileWriting, *, path_style: bool, host_is_address: bool) -> Iterator[ConfigWarning]:
    """Camel's component has no path style, but uses it for IP addresses."""
    if _sink(writing) is CAMEL and path_style and not host_is_address:
        message = (
            "This sink puts the bucket in front of the host name of endpoint_url. That name has to resolve on the "
            "workers; with an IP address instead, the bucket is in the path."
        )
        yield ConfigWarning(code="PATH_STYLE_UNAVAILABLE", message=message)


def _of_sink(writing: FileWriting) -> Iterator[ConfigWarning]:
    sink = _sink(writing)
    if not sink.for_production:
        yield _DEVELOPMENT_ONLY
        yield from _losses(camel.records_per_file(writing))
        return
    yield _AT_LEAST_ONCE
    yield _ORPHAN_UPLOADS
    if sink is AIVEN:
        yield _OBJECTS_REWRITTEN
    if sink is CONFLUENT:
        yield _PLUGIN_LICENSE


def _losses(gathered: int) -> Iterator[ConfigWarning]:
    if gathered == 1:
        yield _REPEATED
        return
    message = (
        f"Up to {gathered} records are lost each time the task ends, restarts, or the store refuses them. Leave "
        "max_records_per_file out: then each record has a file of its own, and none is lost."
    )
    yield ConfigWarning(code="LOSSY_ON_RESTART", message=message)


def _written_every(writing: FileWriting) -> str:
    sink, most, gathered = _sink(writing), max_records(writing), camel.records_per_file(writing)
    if sink is CAMEL and gathered == 1:
        return "A file is written for each record: thousands of rows take minutes."
    if sink is CAMEL:
        return f"A file is written every {gathered} records, or {camel.WAIT_MS // 1000} s."
    records = f", and every {most} records," if most else ""
    mebibytes = PART_BYTES // (1024 * 1024)
    if sink is CONFLUENT:
        every = f"every {confluent.ROTATE_MS // 1000} s{records} for each partition"
    else:
        every = f"whenever the workers commit offsets{records} for each partition: every 60 s by default"
    return f"A file is written {every}. Until then its records are in memory: {mebibytes} MiB or more for a partition."


def _fixed_name(writing: FileWriting, address: ObjectStoreAddress) -> str | None:
    topic, sink = writing.targets[0], _sink(writing)
    ending = ".gz" if writing.compression is Compression.GZIP else ""
    if sink is CONFLUENT:
        return f"{address.prefix or confluent.DEFAULT_FOLDER}/{topic}/partition=0/{topic}+0+0000000000.json{ending}"
    if sink is CAMEL:
        return f"{address.keys_begin}{topic}/20300131-120000000-ID.jsonl, with the time and an id"
    return None


def _large_columns(table: SourceTable) -> list[str]:
    if table.provider is not DatabaseProvider.POSTGRESQL or table.replica_identity == "FULL":
        return []
    return [column.name for column in table.captured_columns if _is_large(column.type, table, column.name)]


_LARGE = ("text", "json", "bytea", "character varying", "varchar", "xml", "hstore", "tsvector")


def _is_large(type_: str, table: SourceTable, column: str) -> bool:
    return column not in table.primary_key_columns and (type_.startswith(_LARGE) or type_.endswith("[]"))


def _sink(writing: FileWriting) -> FileSink:
    """The chosen sink. A preview has chosen one; without, the best is described."""
    return sink_of(writing.plugin) if writing.plugin else SINKS[0]
