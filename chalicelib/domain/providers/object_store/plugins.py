"""The sinks that write files to object stores, and which of those that the workers have is taken.

Sources: the documentation and the code of Aiven's sink 3.4, Confluent's 10.5 and Camel's connectors 0.11.
"""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

from chalicelib.domain.object_store import SinkPlugin
from chalicelib.errors import Invalid


@dataclass(frozen=True, slots=True, kw_only=True)
class FileSink:
    """What a sink can do.

    `names_files`: by the template. `reads_records`: its transforms see fields, so that a line can be the row alone and
    carry its position. `compresses`: with gzip. `reads_topics`: several with one connector. `for_production`: others
    are for development only.
    """

    class_name: str
    title: str
    names_files: bool = False
    reads_records: bool = True
    compresses: bool = True
    reads_topics: bool = True
    for_production: bool = True


AIVEN = FileSink(
    class_name="io.aiven.kafka.connect.s3.AivenKafkaConnectS3SinkConnector",
    title="Aiven's S3 sink",
    names_files=True,
)
CONFLUENT = FileSink(class_name="io.confluent.connect.s3.S3SinkConnector", title="Confluent's S3 sink")
CAMEL = FileSink(
    class_name="org.apache.camel.kafkaconnector.CamelSinkConnector",
    title="Camel's sink",
    reads_records=False,
    compresses=False,
    reads_topics=False,
    for_production=False,
)
SINKS: Sequence[FileSink] = (AIVEN, CONFLUENT, CAMEL)
"""The best first."""

_BY_CLASS = {sink.class_name: sink for sink in SINKS}


def chosen(installed: Callable[[], Collection[SinkPlugin]]) -> SinkPlugin:
    """The best of the installed plug-ins. Raises PLUGIN_MISSING when none of them can write files."""
    by_class = {plugin.class_name: plugin for plugin in installed()}
    for sink in SINKS:
        if plugin := by_class.get(sink.class_name):
            return plugin
    names = ", ".join(sink.class_name for sink in SINKS)
    raise Invalid(
        f"The Connect cluster has no plug-in that writes to object storage. Install one of these on every worker and "
        f"restart them: {names}.",
        code="PLUGIN_MISSING",
        details={"connector_classes": [sink.class_name for sink in SINKS]},
    )


def sink_of(plugin: SinkPlugin) -> FileSink:
    """What a chosen plug-in can do."""
    return _BY_CLASS[plugin.class_name]
