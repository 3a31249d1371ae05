"""PostgreSQL and MySQL to object storage, on the real stack: every change is a line of a file that is read back.

With `long` it is MinIO, and Aiven's sink where HEADGATE_AIVEN_S3_SINK names a folder that has it.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from infra.local.stack import camel
from infra.local.stack.fetch import fetch_all
from tests.e2e.object_storage import FLUSH_SECONDS, Lake, aiven_plugin, codes, registered_lake, statuses
from tests.support.apps.real_headgate import Json, RealDatabase, RealHeadgate
from tests.support.apps.real_mysql import RealMySQLDatabase, open_database
from tests.support.databases.mysql import MySQLServer
from tests.support.minio import ConnectWorker, MinIO, allowed
from tests.support.object_store.moto_store import moto_store
from tests.support.real import RealStackInUse, other_worker
from tests.support.waiting import eventually

pytestmark = pytest.mark.real

COLUMNS = "id INT PRIMARY KEY, price NUMERIC(10,2), day DATE, note TEXT"
ROWS = [f"({number}, {number}.50, '2026-01-31', 'row {number} é')" for number in range(1, 31)]
CHANGES = (
    "INSERT INTO {table} VALUES (31, 1.25, '2026-02-01', 'streamed')",
    "UPDATE {table} SET note = 'changed' WHERE id = 1",
    "DELETE FROM {table} WHERE id = 2",
)


@pytest.fixture(scope="module")
def camel_lake(
    headgate: RealHeadgate, real_stack_in_use: RealStackInUse, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Lake]:
    """Camel's sink, and moto's S3, which every machine has."""
    folder, plugins = tmp_path_factory.mktemp("lake") / "worker", (*fetch_all().plugins, camel.plugins())
    with (
        other_worker(real_stack_in_use, folder, name="lake", plugins=plugins) as (url, process),
        moto_store() as store,
    ):
        yield registered_lake(headgate, ConnectWorker(url=url, process=process), store)


@pytest.fixture(scope="module")
def aiven_lake(
    headgate: RealHeadgate, real_stack_in_use: RealStackInUse, minio: MinIO, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Lake]:
    """Aiven's sink, and MinIO."""
    folder, plugins = tmp_path_factory.mktemp("aiven") / "worker", (*fetch_all().plugins, aiven_plugin())
    settings = {"offset.flush.interval.ms": str(FLUSH_SECONDS * 1000)}
    with other_worker(real_stack_in_use, folder, name="aiven", plugins=plugins, settings=settings) as (url, process):
        yield registered_lake(headgate, ConnectWorker(url=url, process=process), minio)


@dataclass(frozen=True, kw_only=True)
class Shop:
    """A pipeline over a table of 30 rows. `table` is its name in statements."""

    pipeline: Json
    database: RealDatabase | RealMySQLDatabase
    table: str

    @property
    def topic(self) -> str:
        return str(self.pipeline["topics"][0])

    def change(self) -> None:
        """Three more records, and a tombstone."""
        self.run(*CHANGES)

    def run(self, *statements: str) -> None:
        self.database.run(*(statement.format(table=self.table) for statement in statements))


def postgresql(headgate: RealHeadgate) -> Shop:
    database = headgate.database(
        "lake",
        f"CREATE TABLE shop.orders ({COLUMNS})",
        f"INSERT INTO shop.orders VALUES {', '.join(ROWS)}",
        "ALTER TABLE shop.orders OWNER TO {role}",
    )
    pipeline = headgate.captured(database, "orders")
    headgate.until_records(pipeline["topics"][0], 30)
    return Shop(pipeline=pipeline, database=database, table="shop.orders")


def mysql(headgate: RealHeadgate, server: MySQLServer) -> Shop:
    made = (f"CREATE TABLE orders ({COLUMNS})", f"INSERT INTO orders VALUES {', '.join(ROWS)}")
    database = open_database(server, "lake", *made)
    pipeline = headgate.captured(database, "orders", schema=database.name)
    headgate.until_records(pipeline["topics"][0], 30)
    return Shop(pipeline=pipeline, database=database, table="orders")


def test_postgresql_arrives_in_files_snapshot_and_stream(camel_lake: Lake) -> None:
    lake, headgate = camel_lake, camel_lake.headgate
    shop, destination = postgresql(headgate), lake.destination("orders")
    tested = headgate.post(f"/destinations/{destination['id']}/test")
    assert statuses(tested["checks"]) == ["success"] * 5
    body = lake.body(shop.pipeline, compression="none")
    preview = headgate.post(f"/destinations/{destination['id']}/preview", body)
    assert preview["validation"]["error_count"] == 0
    assert {"DEVELOPMENT_ONLY", "FILE_NAME_FIXED", "DECIMALS_ENCODED", "TIMES_ENCODED"} <= codes(preview)
    delivery = headgate.deliver(destination, body)
    assert delivery["plugin"]["class"] == camel.SINK
    lake.until_written("orders", shop.topic, 30)
    shop.change()
    lake.until_written("orders", shop.topic, 33)
    headgate.delete(f"/deliveries/{delivery['id']}")
    assert len(lake.files("orders")) >= 33


@pytest.mark.long
def test_mysql_arrives_in_files_of_minio(
    headgate: RealHeadgate, s3_worker: ConnectWorker, minio: MinIO, real_mysql: MySQLServer
) -> None:
    lake, shop = registered_lake(headgate, s3_worker, minio), mysql(headgate, real_mysql)
    headgate.deliver(lake.destination("orders"), lake.body(shop.pipeline))
    lake.until_written("orders", shop.topic, 30)
    shop.change()
    lake.until_written("orders", shop.topic, 33)


@pytest.mark.long
@pytest.mark.parametrize("compression", ["gzip", "none"])
@pytest.mark.parametrize("shape", ["envelope", "row"])
def test_every_record_is_a_line_with_its_position(aiven_lake: Lake, compression: str, shape: str) -> None:
    lake, headgate, prefix = aiven_lake, aiven_lake.headgate, f"{shape}-{compression}"
    shop, destination = postgresql(headgate), lake.destination(prefix)
    delivery = headgate.deliver(destination, lake.body(shop.pipeline, compression=compression, shape=shape))
    assert "Aiven" in delivery["plugin"]["class"]
    lake.until_offsets(prefix, shop.topic, 30)
    shop.change()
    lake.until_offsets(prefix, shop.topic, 33)
    files = lake.files(prefix)
    ending = ".jsonl.gz" if compression == "gzip" else ".jsonl"
    assert all(key.startswith(f"{prefix}/{shop.topic}/") and key.endswith(ending) for key in files)
    lines = [json.loads(line) for line in lake.lines(prefix)]
    if shape == "row":
        assert {line["__op"] for line in lines} == {"r", "c", "u", "d"}
        assert [line["note"] for line in lines if line["__op"] == "c"] == ["streamed"]
    else:
        assert {line["op"] for line in lines} == {"r", "c", "u", "d"}
    headgate.delete(f"/deliveries/{delivery['id']}")


@pytest.mark.long
def test_mysql_and_readable_values_with_aivens_sink(aiven_lake: Lake, real_mysql: MySQLServer) -> None:
    lake, headgate = aiven_lake, aiven_lake.headgate
    made = (f"CREATE TABLE orders ({COLUMNS})", f"INSERT INTO orders VALUES {', '.join(ROWS)}")
    database = open_database(real_mysql, "readable", *made)
    source = headgate.source(database)
    headgate.discover(source)
    pipeline = headgate.pipeline(source, [(database.name, "orders")], representation="readable")
    headgate.deploy(pipeline)
    headgate.until_records(pipeline["topics"][0], 30)
    headgate.deliver(lake.destination("readable"), lake.body(pipeline, shape="row"))
    lake.until_offsets("readable", pipeline["topics"][0], 30)
    lines = {line["id"]: line for line in map(json.loads, lake.lines("readable"))}
    assert (lines[1]["price"], lines[1]["day"].removesuffix("Z")) == ("1.50", "2026-01-31")


@pytest.mark.long
def test_nothing_is_missing_when_a_worker_of_aivens_sink_is_killed(aiven_lake: Lake) -> None:
    lake, headgate = aiven_lake, aiven_lake.headgate
    shop = postgresql(headgate)
    headgate.deliver(lake.destination("killed"), lake.body(shop.pipeline, max_records_per_file=50))
    lake.until_offsets("killed", shop.topic, 30)
    count = 30
    for _ in range(3):
        first, last = count + 1, count + 200
        shop.run(f"INSERT INTO {{table}} SELECT n, 1, '2026-01-31', 'x' FROM generate_series({first}, {last}) n")
        count = last
        eventually(lambda: len(lake.records(shop.topic)), lambda seen, at=first: seen > at)
        lake.worker.process.kill()
        lake.worker.process.start()
    lake.until_offsets("killed", shop.topic, count)


@pytest.mark.long
@pytest.mark.parametrize("sink", ["camel", "aiven"])
def test_a_right_that_is_revoked_while_it_runs_is_found(
    sink: str, measured: RealHeadgate, minio: MinIO, request: pytest.FixtureRequest
) -> None:
    """The sink of Aiven stays RUNNING and says nothing: the look at the destination, and the lag, do."""
    if sink == "aiven":
        lake = request.getfixturevalue("aiven_lake")
    else:
        lake = registered_lake(measured, request.getfixturevalue("s3_worker"), minio)
    shop, prefix = postgresql(measured), f"revoked-{sink}"
    rights = [
        allowed("s3:ListBucket", lake.bucket),
        allowed("s3:PutObject", f"{lake.bucket}/{prefix}/*"),
        allowed("s3:AbortMultipartUpload", f"{lake.bucket}/{prefix}/*"),
    ]
    user = minio.user(*rights)
    key = {"access_key_id": user.key, "secret_access_key": user.secret}
    destination = lake.destination(prefix, credentials=key)
    delivery = measured.deliver(destination, lake.body(shop.pipeline))
    path = f"/deliveries/{delivery['id']}/status"
    eventually(lambda: len(lake.lines(prefix)), lambda seen: seen >= 30, seconds=60)
    measured.until_state(path, "RUNNING")
    user.allow(rights[0])
    shop.change()

    def shown() -> Json:
        measured.look_at_destination(destination)
        measured.tick()
        return dict(measured.get(f"{path}?fresh=true"))

    seen = eventually(shown, lambda status: status["observed_state"] in ("DEGRADED", "FAILED"), seconds=180)
    said = [*seen["reasons"], *(task["hint"]["message"] for task in seen["tasks"] if task["hint"])]
    assert any("may not" in sentence or "denies" in sentence for sentence in said), said
    user.allow(*rights)
    if sink == "camel":
        measured.post(f"/deliveries/{delivery['id']}/restart")
    eventually(shown, lambda status: status["observed_state"] == "RUNNING", seconds=180)
    eventually(lambda: len(lake.lines(prefix)), lambda count: count >= 33, seconds=120)
