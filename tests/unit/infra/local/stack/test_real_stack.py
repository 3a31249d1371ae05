import json
import urllib.error
import urllib.request
from urllib.parse import urlsplit
from zipfile import ZipFile

import boto3
import psycopg
import pymysql
import pytest
from botocore.exceptions import ClientError
from confluent_kafka import Consumer, Producer

from infra.local.app.errors import SetupMissing
from infra.local.process.process_identity import running
from infra.local.stack import camel, s3
from infra.local.stack.fetch import fetch_all

pytestmark = pytest.mark.real


def ask(url, body=None):
    request = urllib.request.Request(url, data=None if body is None else json.dumps(body).encode())
    request.add_header("Content-Type", "application/json")
    if body is not None:
        request.method = "PUT"
    with urllib.request.urlopen(request, timeout=60) as answer:
        return json.load(answer)


def aws(service, endpoint):
    return boto3.client(
        service, endpoint_url=endpoint, region_name="us-east-1", aws_access_key_id="x", aws_secret_access_key="x"
    )


def test_connect_offers_debezium_s_sources_and_sink(real_stack):
    classes = {plugin["class"] for plugin in ask(f"{real_stack.addresses.connect}/connector-plugins")}
    assert {
        "io.debezium.connector.postgresql.PostgresConnector",
        "io.debezium.connector.mysql.MySqlConnector",
        "io.debezium.connector.jdbc.JdbcSinkConnector",
    } <= classes


def test_the_sink_brings_the_drivers_of_its_targets(real_stack):
    debezium, _ours = fetch_all().plugins
    classes = set()
    for jar in (debezium / "debezium-connector-jdbc").glob("*.jar"):
        with ZipFile(jar) as archive:
            classes |= set(archive.namelist())
    assert {"com/mysql/cj/jdbc/Driver.class", "org/postgresql/Driver.class"} <= classes


@pytest.mark.parametrize(
    ("key", "value", "refused"),
    [
        ("producer.override.max.request.size", "16777216", False),
        ("producer.override.sasl.jaas.config", "anything", True),
        ("producer.override.bootstrap.servers", "127.0.0.1:1", True),
    ],
)
def test_a_connector_may_override_sizes_and_neither_addresses_nor_credentials(real_stack, key, value, refused):
    plugin = "org.apache.kafka.connect.file.FileStreamSourceConnector"
    config = {"name": "sample", "connector.class": plugin, "topic": "sample", key: value}
    answer = ask(f"{real_stack.addresses.connect}/connector-plugins/{plugin}/config/validate", config)
    faulty = [one["value"]["name"] for one in answer["configs"] if one["value"]["errors"]]
    assert faulty == ([key] if refused else [])


def test_the_broker_carries_a_row_of_several_megabytes(real_stack):
    servers = {"bootstrap.servers": real_stack.addresses.kafka}
    producer = Producer({**servers, "message.max.bytes": 12_000_000})
    producer.produce("large", b"x" * 11_000_000)
    assert producer.flush(30) == 0
    consumer = Consumer({**servers, "group.id": "sample", "auto.offset.reset": "earliest"})
    consumer.subscribe(["large"])
    message = consumer.poll(30)
    consumer.close()
    assert message.error() is None
    assert len(message.value()) == 11_000_000


def test_postgresql_is_ready_for_change_data_capture(real_stack):
    with psycopg.connect(real_stack.addresses.postgres) as connection:
        settings = {
            name: connection.execute(f"SHOW {name}").fetchone()[0]
            for name in ("wal_level", "max_replication_slots", "max_wal_senders", "password_encryption")
        }
        version = connection.info.server_version
    assert settings == {
        "wal_level": "logical",
        "max_replication_slots": "20",
        "max_wal_senders": "20",
        "password_encryption": "scram-sha-256",
    }
    assert version >= 180000


def test_postgresql_wants_the_password(real_stack):
    address = real_stack.addresses.postgres
    password = address.split(":")[2].split("@")[0]
    with pytest.raises(psycopg.OperationalError, match="password authentication failed"):
        psycopg.connect(address.replace(password, "guess"))


def test_a_connect_worker_that_was_killed_starts_again_and_remembers(real_stack):
    url = f"{real_stack.addresses.connect}/connectors"
    config = {"connector.class": "org.apache.kafka.connect.file.FileStreamSourceConnector", "topic": "kept"}
    ask(f"{url}/kept/config", config)
    before = running(real_stack.connect.pid)
    real_stack.connect.kill()
    assert not before.is_running()
    with pytest.raises(urllib.error.URLError):
        ask(url)
    real_stack.connect.start()
    assert ask(f"{url}/kept/config")["topic"] == "kept"


def test_tables_queues_and_messages_outlive_their_servers(real_stack):
    dynamodb = aws("dynamodb", real_stack.addresses.dynamodb)
    dynamodb.create_table(
        TableName="kept",
        KeySchema=[{"AttributeName": "id", "KeyType": "HASH"}],
        AttributeDefinitions=[{"AttributeName": "id", "AttributeType": "S"}],
        BillingMode="PAY_PER_REQUEST",
    )
    dynamodb.put_item(TableName="kept", Item={"id": {"S": "one"}})
    sqs = aws("sqs", real_stack.addresses.sqs)
    queue = sqs.create_queue(QueueName="kept")["QueueUrl"]
    sqs.send_message(QueueUrl=queue, MessageBody="hello")
    real_stack.dynamodb.restart()
    real_stack.sqs.restart()
    assert dynamodb.get_item(TableName="kept", Key={"id": {"S": "one"}})["Item"] == {"id": {"S": "one"}}
    assert sqs.receive_message(QueueUrl=queue, WaitTimeSeconds=5)["Messages"][0]["Body"] == "hello"


def test_a_second_run_on_the_same_state_is_refused(real_stack, real_state):
    from infra.local.stack import real_stack as stacks

    with (
        pytest.raises(SetupMissing, match="another run uses the stack"),
        stacks.start(real_state / "state", headgate_url="http://127.0.0.1:1", service_credential="x"),
    ):
        pass


def test_with_mysql_the_stack_has_one_more_server_whose_data_are_kept(real_state):
    from infra.local.stack import real_stack as stacks

    addresses = []
    for _ in range(2):
        with stacks.start(
            real_state / "with-mysql",
            headgate_url="http://127.0.0.1:1",
            service_credential="x",
            connect_later=True,
            with_mysql=True,
        ) as stack:
            addresses.append(stack.addresses.mysql)
            assert stack.mysql in stack.servers
            assert {address for address, _port in _listening_addresses(stack.mysql.pid)} == {"127.0.0.1"}
            parts = urlsplit(stack.addresses.mysql)
            with pymysql.connect(
                host=parts.hostname, port=parts.port, user=parts.username, password=parts.password
            ).cursor() as cursor:
                cursor.execute("CREATE DATABASE IF NOT EXISTS kept")
                assert cursor.execute("SHOW WARNINGS") == len(addresses) - 1
        assert not stack.mysql.is_running
    assert addresses[0] == addresses[1]


@pytest.mark.long
def test_with_minio_the_stack_has_one_more_server_and_a_sink_for_it(real_state):
    from infra.local.stack import real_stack as stacks

    addresses = []
    for _ in range(2):
        with stacks.start(
            real_state / "with-minio",
            headgate_url="http://127.0.0.1:1",
            service_credential="x",
            connect_later=True,
            with_minio=True,
        ) as stack:
            addresses.append(stack.addresses.s3)
            assert stack.s3 in stack.servers
            # It listens on both addresses of loopback.
            assert {address for address, _port in _listening_addresses(stack.s3.pid)} - {"::1"} == {"127.0.0.1"}
            parts = urlsplit(stack.addresses.s3)
            assert parts.path == "/headgate"
            bucket = s3.client(parts.port, parts.username, parts.password)
            assert bucket.list_objects_v2(Bucket="headgate")["KeyCount"] == len(addresses) - 1
            bucket.put_object(Bucket="headgate", Key="kept", Body=b"")
            with pytest.raises(ClientError, match="SignatureDoesNotMatch"):
                s3.client(parts.port, parts.username, "guess").list_buckets()
        assert not stack.s3.is_running
        assert str(camel.plugins()) in (real_state / "with-minio" / "connect" / "worker.properties").read_text()
    assert addresses[0] == addresses[1]


def test_without_mysql_and_minio_the_stack_has_none(real_stack):
    assert real_stack.mysql is None
    assert real_stack.addresses.mysql is None
    assert real_stack.s3 is None
    assert real_stack.addresses.s3 is None


def test_every_server_listens_on_loopback_only(real_stack):
    listening = []
    for server in real_stack.servers:
        listening += _listening_addresses(server.pid)
    assert len(listening) >= 6
    assert {address for address, _port in listening} <= {"127.0.0.1"}


def _listening_addresses(pid):
    import psutil

    return [
        (one.laddr.ip.removeprefix("::ffff:"), one.laddr.port)
        for one in psutil.Process(pid).net_connections(kind="tcp")
        if one.status == psutil.CONN_LISTEN
    ]
