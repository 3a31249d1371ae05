"""Object storage as a target of deliveries."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from chalicelib.domain.connection_checks import TestResult
from chalicelib.domain.connector_config import BuiltConfig, ConfigWarning
from chalicelib.domain.delivery import Delivery, DeliveryVerdict, MappingInput, TargetStatement
from chalicelib.domain.endpoint import Endpoint
from chalicelib.domain.object_store import FileWriting, ObjectStoreAddress, SinkPlugin
from chalicelib.domain.pipeline import Converter, Pipeline
from chalicelib.domain.providers.object_store import aiven, camel, confluent
from chalicelib.domain.providers.object_store.checks import check_mappings, judge_bucket
from chalicelib.domain.providers.object_store.plugins import AIVEN, CAMEL, CONFLUENT, chosen
from chalicelib.domain.providers.object_store.statements import setup_documents
from chalicelib.domain.providers.object_store.warnings import file_warnings, path_warnings
from chalicelib.domain.providers.object_store.writing import claimed_files, file_writing, topic_mappings
from chalicelib.domain.table import SourceTable
from chalicelib.errors import Invalid
from chalicelib.kit.hosts import ip_address, read_url

_BUILDERS = {
    AIVEN.class_name: aiven.build_config,
    CONFLUENT.class_name: confluent.build_config,
    CAMEL.class_name: camel.build_config,
}


class FileTarget:
    """An ObjectStoreTarget. Facts are the result of a look at the bucket."""

    dialect = None
    check_mappings = staticmethod(check_mappings)
    claimed_targets = staticmethod(claimed_files)
    setup_documents = staticmethod(setup_documents)

    def writing(
        self, mappings: Sequence[MappingInput], options: Mapping[str, Any], _address: ObjectStoreAddress
    ) -> FileWriting:
        return file_writing(mappings, options)

    def remapped(
        self, writing: FileWriting, mappings: Sequence[MappingInput], _address: ObjectStoreAddress
    ) -> FileWriting:
        return replace(writing, mappings=topic_mappings(mappings))

    def completed(
        self, writing: FileWriting, pipeline: Pipeline, installed: Callable[[], Collection[SinkPlugin]]
    ) -> FileWriting:
        has_schemas = pipeline.capture.converter is Converter.JSON_SCHEMA
        return replace(writing, plugin=writing.plugin or chosen(installed), has_schemas=has_schemas)

    def judge_target(
        self, _writing: FileWriting, _tasks_max: int, _tables: Mapping[str, SourceTable], facts: TestResult
    ) -> DeliveryVerdict:
        return judge_bucket(facts)

    def destination_warnings(self, writing: FileWriting, address: ObjectStoreAddress) -> Iterable[ConfigWarning]:
        url = read_url(address.endpoint_url or "")
        host_is_address = url is not None and ip_address(url.host) is not None
        yield from file_warnings(writing, address)
        yield from path_warnings(writing, path_style=address.path_style, host_is_address=host_is_address)

    def target_statements(self, _writing: FileWriting, _tables: Mapping[str, SourceTable]) -> Iterable[TargetStatement]:
        return ()

    def server_identity(self, _facts: TestResult) -> str | None:
        return None

    def build_config(
        self, delivery: Delivery, writing: FileWriting, endpoint: Endpoint[ObjectStoreAddress]
    ) -> BuiltConfig:
        if "session_token" in endpoint.credentials.fields:
            raise Invalid.at(
                "body",
                "credentials",
                "session_token",
                type_="not_with_plugin",
                message="Sinks take no session token. Give the destination a key that does not expire, or the role of "
                "the workers.",
            )
        if writing.plugin is None:
            raise Invalid("The plug-in that writes the files is not chosen yet. Deploy the delivery.")
        lines = _BUILDERS[writing.plugin.class_name](delivery, writing, endpoint)
        return BuiltConfig(lines, (endpoint.credentials,))
