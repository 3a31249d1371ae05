"""The configs of the three sinks to object storage."""

import re
from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Any

import pytest

from chalicelib.domain.connector_config import ConnectorConfig
from chalicelib.domain.credentials import Credentials
from chalicelib.domain.endpoint import Endpoint
from chalicelib.domain.object_store import (
    Compression,
    FileFormat,
    FileShape,
    FileWriting,
    ObjectStoreAddress,
    ObjectStoreProvider,
    SinkPlugin,
    TopicMapping,
)
from chalicelib.domain.providers.object_store.plugins import AIVEN, CAMEL, CONFLUENT, FileSink
from chalicelib.domain.providers.object_store.target_provider import FileTarget
from chalicelib.errors import Invalid
from tests.support.entities import make_delivery
from tests.support.faults import places
from tests.unit.domain.providers.object_store import documented

MINIO = ObjectStoreAddress(
    provider=ObjectStoreProvider.MINIO,
    bucket="lake",
    region="us-east-1",
    prefix="raw/shop",
    endpoint_url="http://minio.example.com:9000",
    path_style=True,
)
AMAZON = ObjectStoreAddress(provider=ObjectStoreProvider.S3, bucket="lake", region="eu-central-1")
KEY = ("access_key_id", "secret_access_key")


def built(
    sink: FileSink, address: ObjectStoreAddress = MINIO, secrets: Collection[str] = KEY, **options: Any
) -> ConnectorConfig:
    """The config of a delivery of one topic by this sink."""
    credentials = Credentials(id="11111111-1111-4111-8111-111111111111", fields=dict.fromkeys(secrets, 1))
    writing = FileWriting(
        mappings=(TopicMapping(topic="shop.public.orders"),),
        format=FileFormat.JSONL,
        plugin=SinkPlugin(class_name=sink.class_name, version="1"),
    )
    writing = replace(writing, **options)
    delivery = make_delivery(writing)
    return FileTarget().build_config(delivery, writing, Endpoint(address, credentials)).lines


@pytest.mark.parametrize(("sink", "definition"), [(AIVEN, documented.AIVEN), (CONFLUENT, documented.CONFLUENT)])
@pytest.mark.parametrize("address", [MINIO, AMAZON], ids=["minio", "s3"])
@pytest.mark.parametrize("shape", FileShape)
@pytest.mark.parametrize("compression", Compression)
@pytest.mark.parametrize("most", [None, 0, 1000])
@pytest.mark.parametrize("secrets", [KEY, ()], ids=["key", "role"])
def test_every_line_is_one_that_the_sink_documents(
    sink: FileSink,
    definition: Mapping[str, str],
    address: ObjectStoreAddress,
    shape: FileShape,
    compression: Compression,
    most: int | None,
    secrets: Collection[str],
) -> None:
    config = built(sink, address, secrets, shape=shape, compression=compression, max_records_per_file=most)
    assert config.pop("headgate.owner")
    wrong = {key: value for key, value in config.items() if not re.fullmatch(definition.get(key, "-"), value)}
    assert wrong == {}


@pytest.mark.parametrize("sink", [AIVEN, CONFLUENT, CAMEL], ids=lambda sink: sink.title)
def test_no_secret_but_references_is_in_a_config(sink: FileSink) -> None:
    values = built(sink).values()
    assert [value for value in values if "headgate:" in value] == [
        "${headgate:11111111-1111-4111-8111-111111111111:access_key_id}",
        "${headgate:11111111-1111-4111-8111-111111111111:secret_access_key}",
    ]


@pytest.mark.parametrize("sink", [AIVEN, CONFLUENT, CAMEL], ids=lambda sink: sink.title)
def test_tombstones_never_reach_a_file(sink: FileSink) -> None:
    config = built(sink)
    assert config["transforms"].split(",")[0] == "tombstones"
    assert config["transforms.tombstones.predicate"] == config["predicates"]


@pytest.mark.parametrize("sink", [AIVEN, CONFLUENT], ids=lambda sink: sink.title)
def test_a_line_says_which_record_it_is(sink: FileSink) -> None:
    for shape in FileShape:
        config = built(sink, shape=shape)
        assert config["transforms"].split(",")[-1] == "position"
        assert config["transforms.position.offset.field"] == "__offset"


@pytest.mark.parametrize("has_schemas", [True, False])
def test_the_converters_are_those_of_the_pipeline(has_schemas: bool) -> None:
    for sink in (AIVEN, CONFLUENT):
        config = built(sink, has_schemas=has_schemas)
        assert config["value.converter.schemas.enable"] == str(has_schemas).lower()


def test_aiven_names_files_below_the_prefix_by_the_template() -> None:
    config = built(AIVEN, file_name_template="{{topic}}/day={{timestamp:unit=dd}}/{{partition}}-{{start_offset}}")
    expected = "raw/shop/{{topic}}/day={{timestamp:unit=dd}}/{{partition}}-{{start_offset}}.jsonl.gz"
    assert config["file.name.template"] == expected
    assert "aws.s3.prefix" not in config
    assert built(AIVEN, AMAZON, compression=Compression.NONE)["file.name.template"].startswith("{{topic}}/")


def test_confluent_always_closes_files_after_a_minute() -> None:
    for most in (0, 100):
        assert built(CONFLUENT, max_records_per_file=most)["rotate.schedule.interval.ms"] == "60000"


def test_confluent_stores_nothing_in_the_root_of_a_bucket() -> None:
    assert built(CONFLUENT, AMAZON)["topics.dir"] == "topics"


def test_camel_gives_every_file_a_name_of_its_own() -> None:
    config = built(CAMEL)
    url = config["camel.sink.url"]
    assert url.startswith("aws2-s3://lake?keyName=raw/shop/shop.public.orders/${date:now:yyyyMMdd-HHmmssSSS}-")
    assert "${exchangeId}" in url
    assert "streamingUploadMode" not in url


@pytest.mark.parametrize(("asked", "gathered"), [(None, None), (1, None), (50, "50"), (50_000, "200"), (0, "200")])
def test_camel_gathers_records_only_where_somebody_asks_for_it(asked: int | None, gathered: str | None) -> None:
    assert built(CAMEL, max_records_per_file=asked).get("camel.aggregation.size") == gathered


def test_without_a_key_the_role_of_the_workers_is_used() -> None:
    assert built(CAMEL, AMAZON, ())["camel.component.aws2-s3.useDefaultCredentialsProvider"] == "true"
    for sink in (AIVEN, CONFLUENT):
        assert not any("access.key" in key for key in built(sink, AMAZON, ()))


def test_a_temporary_key_is_refused() -> None:
    with pytest.raises(Invalid) as refused:
        built(AIVEN, secrets=(*KEY, "session_token"))
    assert places(refused.value.details) == [
        {"location": ["body", "credentials", "session_token"], "type": "not_with_plugin"}
    ]
