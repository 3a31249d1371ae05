"""What the preview of a delivery to files says."""

import json
from dataclasses import replace
from typing import Any

import pytest

from chalicelib.domain.database import DatabaseProvider
from chalicelib.domain.delivery import MappingInput
from chalicelib.domain.object_store import ObjectStoreAddress, SinkPlugin
from chalicelib.domain.pipeline import Representation
from chalicelib.domain.providers.object_store.plugins import AIVEN, CAMEL, CONFLUENT, FileSink
from chalicelib.domain.providers.object_store.target_provider import FileTarget
from chalicelib.domain.providers.object_store.warnings import table_warnings
from chalicelib.domain.table import Column
from tests.support.entities import make_pipeline, make_source_table
from tests.unit.domain.providers.object_store.test_sink_configs import AMAZON, MINIO

EVERY = {"TESTED_FROM_HEADGATE", "HEALTH_BY_LAG", "SNAPSHOT_READS", "TRUNCATE_NOT_DELIVERED", "WRITTEN_EVERY"}


def codes(sink: FileSink, address: ObjectStoreAddress = AMAZON, **options: Any) -> dict[str, str]:
    """The warnings of a delivery by this sink, by code."""
    target = FileTarget()
    writing = target.writing([MappingInput(topic="shop.public.orders")], options, address)
    writing = target.completed(writing, make_pipeline(), lambda: [SinkPlugin(class_name=sink.class_name, version=None)])
    return {warning.code: warning.message for warning in target.destination_warnings(writing, address)}


@pytest.mark.parametrize(
    ("sink", "expected"),
    [
        (AIVEN, {"AT_LEAST_ONCE", "ORPHAN_UPLOADS", "OBJECTS_REWRITTEN", "ENVELOPES"}),
        (CONFLUENT, {"AT_LEAST_ONCE", "ORPHAN_UPLOADS", "PLUGIN_LICENSE", "FILE_NAME_FIXED", "ENVELOPES"}),
        (
            CAMEL,
            {
                *("AT_LEAST_ONCE", "DEVELOPMENT_ONLY", "FILE_NAME_FIXED", "NOT_COMPRESSED", "SCHEMAS_IN_LINES"),
                "ENVELOPES",
            },
        ),
    ],
    ids=lambda value: getattr(value, "title", ""),
)
def test_each_sink_has_its_warnings(sink: FileSink, expected: set[str]) -> None:
    assert set(codes(sink)) == EVERY | expected


def test_rows_are_no_envelopes() -> None:
    assert "ENVELOPES" not in codes(AIVEN, shape="row")


def test_a_name_with_the_time_of_writing_is_unsafe() -> None:
    template = "{{topic}}/{{timestamp:unit=dd}}/{{partition}}-{{start_offset}}"
    assert "FILE_NAME_UNSAFE" in codes(AIVEN, file_name_template=template)


def test_how_many_records_may_be_lost_is_said() -> None:
    assert "LOSSY_ON_RESTART" not in codes(CAMEL)
    assert "Up to 200 records" in codes(CAMEL, max_records_per_file=0)["LOSSY_ON_RESTART"]
    assert "Up to 20 records" in codes(CAMEL, max_records_per_file=20)["LOSSY_ON_RESTART"]


def test_the_names_of_files_are_shown_where_the_sink_makes_them() -> None:
    message = codes(CONFLUENT, MINIO)["FILE_NAME_FIXED"]
    assert "raw/shop/shop.public.orders/partition=0/shop.public.orders+0+0000000000.json.gz" in message


@pytest.mark.parametrize(("host", "warned"), [("minio.example.com", True), ("127.0.0.1", False), ("[::1]", False)])
def test_camel_has_path_style_for_addresses_only(host: str, warned: bool) -> None:
    address = replace(MINIO, endpoint_url=f"http://{host}:9000")
    assert ("PATH_STYLE_UNAVAILABLE" in codes(CAMEL, address)) is warned
    assert "PATH_STYLE_UNAVAILABLE" not in codes(AIVEN, address)


def columns(**types: str) -> tuple[Column, ...]:
    return tuple(
        Column(name=name, type=type_, nullable=True, ordinal=number)
        for number, (name, type_) in enumerate(types.items(), 1)
    )


POSTGRESQL_COLUMNS = columns(
    id="bigint",
    price="numeric(10,2)",
    day="date",
    at="timestamp(3) without time zone",
    zoned="timestamp with time zone",
    wait="interval",
    file="bytea",
    note="text",
)
MYSQL_COLUMNS = columns(
    id="bigint unsigned",
    price="decimal(10,2) unsigned",
    day="date",
    at="datetime(6)",
    zoned="timestamp",
    file="longblob",
)


@pytest.mark.parametrize(
    ("provider", "listed", "expected"),
    [
        (
            DatabaseProvider.POSTGRESQL,
            POSTGRESQL_COLUMNS,
            {
                "DECIMALS_ENCODED": "price",
                "TIMES_ENCODED": "day, at, wait",
                "BYTES_ENCODED": "file",
                "TOASTED_VALUES": "file, note",
            },
        ),
        (
            DatabaseProvider.MYSQL,
            MYSQL_COLUMNS,
            {"DECIMALS_ENCODED": "price", "TIMES_ENCODED": "day, at", "BYTES_ENCODED": "file"},
        ),
    ],
)
def test_columns_that_json_shows_in_another_form_are_named(
    provider: DatabaseProvider, listed: tuple[Column, ...], expected: dict[str, str]
) -> None:
    table = make_source_table(provider=provider, columns=listed)
    found = {one.code: one.message for one in table_warnings([table], Representation.EXACT)}
    assert set(found) == set(expected)
    assert all(names in found[code] for code, names in expected.items()), found


def test_readable_pipelines_encode_bytes_only() -> None:
    table = make_source_table(columns=POSTGRESQL_COLUMNS, replica_identity="FULL")
    assert [one.code for one in table_warnings([table], Representation.READABLE)] == ["BYTES_ENCODED"]


def test_the_policy_allows_what_a_sink_needs_below_the_prefix_and_no_more() -> None:
    target = FileTarget()
    writing = target.writing([MappingInput(topic="t")], {}, MINIO)
    policy, lifecycle = target.setup_documents(writing, MINIO)
    statements = json.loads(policy.document)["Statement"]
    assert statements[0]["Resource"] == "arn:aws:s3:::lake/raw/shop/*"
    assert set(statements[0]["Action"]) == {
        "s3:PutObject",
        "s3:AbortMultipartUpload",
        "s3:ListMultipartUploadParts",
    }
    assert json.loads(lifecycle.document)["Rules"][0]["AbortIncompleteMultipartUpload"] == {"DaysAfterInitiation": 7}


@pytest.mark.parametrize(("region", "partition"), [("cn-north-1", "aws-cn"), ("us-gov-west-1", "aws-us-gov")])
def test_the_policy_names_the_partition_of_the_region(region: str, partition: str) -> None:
    target = FileTarget()
    writing = target.writing([MappingInput(topic="t")], {}, AMAZON)
    policy, _ = target.setup_documents(writing, replace(AMAZON, region=region))
    assert f"arn:{partition}:s3:::lake/*" in policy.document
