"""The largest pipelines, deliveries, systems, clusters, tables and audit records that can be stored."""

from collections.abc import Iterable, Iterator
from dataclasses import asdict, replace
from datetime import timedelta
from typing import Any

from chalicelib.api.contract.clusters import ConnectClusterBody, StreamClusterBody
from chalicelib.api.contract.connections import DatabaseConnectionBody
from chalicelib.api.contract.deliveries import DeliveryBody
from chalicelib.api.contract.pipelines import PipelineBody
from chalicelib.api.contract.sources import SourceBody
from chalicelib.domain.audit.record import AuditRecord, Outcome
from chalicelib.domain.cluster import ConnectCluster, StreamCluster
from chalicelib.domain.connection import MAX_USERS, Connection
from chalicelib.domain.connection_checks import CheckStatus, TestCheck, TestResult
from chalicelib.domain.credentials import Credentials
from chalicelib.domain.delivery import Delivery, TableMapping, TableWriting
from chalicelib.domain.providers.postgresql.facts import PostgreSQLRawColumn, PostgreSQLRawTable, TypeFacts
from chalicelib.domain.table import TableName
from chalicelib.domain.usage import UsedBy
from chalicelib.kit.ids import id_from
from chalicelib.stores.documents import Documents
from chalicelib.stores.transaction import Transaction
from tests.support.apps.in_process_app import START_TIME, InProcessApp
from tests.support.entities import make_pipeline

WIDE = "\N{GRINNING FACE}"
"""Four bytes in a body, and one character in the contract."""
ORIGIN = id_from("other", "resource")
SECRETS = Credentials(id=id_from("other", "secrets"), fields={"password": 1})
QUOTES = '"'
"""One character in the contract, two bytes in a body, four in a function's answer."""


def put(store: Documents[Any], entities: Iterable[Any]) -> list[str]:
    """Store them, and return their ids."""
    ids = []
    for entity in entities:
        transaction = Transaction()
        store.put_new(transaction, entity)
        transaction.commit()
        ids.append(entity.id)
    return ids


def numbered(kind: str, count: int) -> Iterator[dict[str, Any]]:
    """Id and times of as many entities of a kind, two of which are created at a time."""
    for number in range(count):
        at = START_TIME + timedelta(milliseconds=number // 2)
        yield {"id": id_from(kind, str(number)), "created_at": at, "updated_at": at}


def largest_pipeline(letter: str) -> PipelineBody:
    tables = [{"schema_name": letter * 63, "table_name": letter * 59 + f"{number:04}"} for number in range(500)]
    ids = dict.fromkeys(("source_id", "stream_cluster_id", "connect_cluster_id"), id_from("other", "one"))
    return PipelineBody.model_validate({**ids, "name": letter * 200, "topic_prefix": "p" * 120, "tables": tables})


def largest_delivery(letter: str) -> DeliveryBody:
    mappings = [
        {"topic": f"{number:0249}", "schema_name": letter * 63, "table_name": letter * 63}
        for number in range(440 if letter == WIDE else 500)
    ]
    ids = {"pipeline_id": id_from("pipeline", "0")}
    return DeliveryBody.model_validate({**ids, "name": letter * 200, "mappings": mappings})


def stored_pipelines(app: InProcessApp, letter: str, count: int) -> list[str]:
    capture = largest_pipeline(letter).to_input().capture
    source, stream, connect = app.source(), app.stream, app.cluster
    ids = {"source_id": source.id, "stream_cluster_id": stream.id, "connect_cluster_id": connect.id}
    entities = (make_pipeline(**one, **ids, name=letter * 200, capture=capture) for one in numbered("pipeline", count))
    return put(app.services.stores.resources.pipelines, entities)


def stored_deliveries(app: InProcessApp, letter: str, count: int) -> tuple[str, list[str]]:
    """A destination and its deliveries, all of the first stored pipeline."""
    data, destination = largest_delivery(letter).to_input(), app.destination().id
    ids = {"destination_id": destination, "pipeline_id": data.pipeline_id, "connect_cluster_id": app.cluster.id}
    writing = TableWriting(mappings=tuple(TableMapping(**asdict(mapping)) for mapping in data.mappings))
    entities = (Delivery(**one, **ids, name=letter * 200, writing=writing) for one in numbered("delivery", count))
    return destination, put(app.services.stores.resources.deliveries, entities)


def stored_systems(store: Documents[Any], count: int) -> list[str]:
    """Systems whose last test failed, with the longest texts."""
    config = {"host": "h" * 253, "database_name": "d" * 63, "username": WIDE * 63}
    texts = {"name": WIDE * 200, "description": WIDE * 1000, "environment": WIDE * 64}
    body = SourceBody.model_validate({**texts, "provider": "postgresql", "config": config})
    checks = [TestCheck(name="c" * 50, status=CheckStatus.FAILED, code="c" * 50, message="m" * 500)] * 8
    test = TestResult(success=False, checks=tuple(checks), server_version="16", latency_ms=1)
    given = {**body.to_input().entity_fields(), "last_test": test, "last_tested_at": START_TIME}
    # Only sources have options.
    fields = {name: value for name, value in given.items() if name in store.entity.__dataclass_fields__}
    systems = (store.entity(**one, **fields, credentials=SECRETS) for one in numbered(store.noun, count))
    return put(store, systems)


def stored_connections(app: InProcessApp, count: int) -> list[str]:
    """Connections with the longest texts and as many users as they may have."""
    config = {"host": "h" * 253, "database_name": "d" * 63, "username": WIDE * 63}
    texts = {"name": WIDE * 200, "description": WIDE * 1000}
    body = DatabaseConnectionBody.model_validate({**texts, "provider": "postgresql", "config": config})
    used_by = tuple(UsedBy(type="destination", id=ORIGIN, name=WIDE * 200) for _ in range(MAX_USERS))
    fields = {**body.to_input().entity_fields(), "used_by": used_by}
    entities = (Connection(**one, **fields, credentials=SECRETS) for one in numbered("connection", count))
    return put(app.services.stores.resources.connections, entities)


def stored_clusters(app: InProcessApp, count: int) -> tuple[list[str], list[str]]:
    """Stream clusters and Connect clusters with the longest texts."""
    servers = ",".join(f"{'b' * 80}{number:02}:9092" for number in range(20))
    stream = StreamClusterBody.model_validate(
        {"name": WIDE * 200, "bootstrap_servers": servers, "security_protocol": "SASL_SSL",
         "sasl_mechanism": "PLAIN", "username": WIDE * 255}
    )  # fmt: skip
    workers = ConnectClusterBody.model_validate(
        {"name": WIDE * 200, "base_url": "http://" + "h" * 480, "stream_cluster_id": id_from("other", "one"),
         "username": WIDE * 255}
    )  # fmt: skip
    streams, connects = stream.to_input().entity_fields(), workers.to_input().entity_fields()
    return (
        put(
            app.services.stores.resources.streams,
            (StreamCluster(**one, **streams, credentials=SECRETS) for one in numbered("s", count)),
        ),
        put(
            app.services.stores.resources.connects,
            (ConnectCluster(**one, **connects, credentials=SECRETS) for one in numbered("c", count)),
        ),
    )


def large_table(number: int) -> PostgreSQLRawTable:
    """Of the most columns that PostgreSQL takes."""
    text = PostgreSQLRawColumn(name="", ordinal=0, type="character varying(10485760)[]", base=TypeFacts(name="text"))
    return PostgreSQLRawTable(
        name=TableName(WIDE * 15, f"{WIDE * 10}{number:03}"),
        raw_columns=tuple(replace(text, name=f"{WIDE * 10}{n}", ordinal=n) for n in range(1, 1601)),
        primary_key_columns=(),
        owned=True,
    )


def stored_records(app: InProcessApp, count: int) -> list[str]:
    """Audit records of as much as a row holds; two are made at a time."""
    after = {"tables": QUOTES * 180_000}
    ids = []
    for number in range(count):
        record = AuditRecord(
            id=id_from("record", str(number)), at=START_TIME + timedelta(milliseconds=number // 2), actor_id=None,
            actor_email=None, actor_via="system", action="pipeline.create", resource_type="pipeline",
            resource_id=ORIGIN, outcome=Outcome.SUCCESS, after=after, correlation_id="c" * 128,
        )  # fmt: skip
        transaction = Transaction()
        app.services.stores.audit.records.append(transaction, record)
        transaction.commit()
        ids.append(record.id)
    return ids
