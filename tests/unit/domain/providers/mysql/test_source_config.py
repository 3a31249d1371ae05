import re
from typing import Any

import pytest

from chalicelib.domain.addresses import KafkaAddress, SaslMechanism, SecurityProtocol
from chalicelib.domain.cluster import StreamCluster
from chalicelib.domain.connector_config import BuiltConfig, ConnectorConfig
from chalicelib.domain.credentials import Credentials
from chalicelib.domain.database import DatabaseProvider, SslMode
from chalicelib.domain.kafka_sign_in import SIGN_IN
from chalicelib.domain.pipeline import Capture, CaptureOptions, SnapshotMode
from chalicelib.domain.providers.mysql.capture_options import own_options
from chalicelib.domain.providers.mysql.capture_provider import MySQLCapture
from chalicelib.domain.providers.mysql.properties import ALLOWED_PROPERTIES, REFUSED_PROPERTIES
from chalicelib.domain.providers.mysql.source_config import build_source_config
from chalicelib.domain.table import ColumnName, TableName
from chalicelib.errors import Invalid
from tests.support.entities import NOW, make_address, make_pipeline, make_source

ORDERS = TableName("shop", "orders")
SOURCE_ID, STREAM_ID = "11111111-1111-4111-8111-111111111111", "22222222-2222-4222-8222-222222222222"
HISTORY = "shop.headgate-history-0a1b2c3d-0000-4000-8000-00000000ffff"


def brokers(secrets: tuple[str, ...] = (), **address: Any) -> StreamCluster:
    return StreamCluster(
        id="k",
        name="k",
        address=KafkaAddress(**{"bootstrap_servers": "kafka:9092", **address}),
        credentials=Credentials(id=STREAM_ID, fields=dict.fromkeys(secrets, 1)),
        created_at=NOW,
        updated_at=NOW,
    )


def built(
    *,
    address: dict[str, Any] | None = None,
    secrets: tuple[str, ...] = ("password",),
    stream: StreamCluster | None = None,
    own: dict[str, Any] | None = None,
    **capture: Any,
) -> ConnectorConfig:
    """The config of a capture of the orders, with these changes."""
    source = make_source(
        address=make_address(**{"provider": DatabaseProvider.MYSQL, "port": 3306, **(address or {})}),
        credentials=Credentials(id=SOURCE_ID, fields=dict.fromkeys(secrets, 1)),
    )
    fields = {"topic_prefix": "shop", "tables": (ORDERS,), "provider_options": own_options(own or {}, {}), **capture}
    pipeline = make_pipeline(provider=DatabaseProvider.MYSQL, capture=Capture(**fields))
    return build_source_config(pipeline, source, stream or brokers())


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("connector.class", "io.debezium.connector.mysql.MySqlConnector"),
        ("tasks.max", "1"),
        ("headgate.owner", "source/0a1b2c3d-0000-4000-8000-00000000ffff"),
        ("database.hostname", "db.example"),
        ("database.port", "3306"),
        ("database.user", "cdc"),
        ("database.password", f"${{headgate:{SOURCE_ID}:password}}"),
        ("database.ssl.mode", "preferred"),
        ("database.include.list", "(?-i:shop)"),
        ("table.include.list", r"(?-i:shop\.orders)"),
        ("topic.prefix", "shop"),
        ("snapshot.mode", "initial"),
        ("snapshot.locking.mode", "minimal"),
        ("snapshot.lock.timeout.ms", "10000"),
        ("decimal.handling.mode", "precise"),
        ("bigint.unsigned.handling.mode", "precise"),
        ("binary.handling.mode", "bytes"),
        ("time.precision.mode", "adaptive_time_microseconds"),
        ("enable.time.adjuster", "false"),
        ("column.propagate.source.type", ".*"),
        ("event.converting.failure.handling.mode", "fail"),
        ("event.processing.failure.handling.mode", "fail"),
        ("inconsistent.schema.handling.mode", "fail"),
        ("ddl.parser.type", "legacy"),
        ("include.schema.changes", "false"),
        ("errors.max.retries", "10"),
        ("schema.history.internal.kafka.topic", HISTORY),
        ("schema.history.internal.kafka.bootstrap.servers", "kafka:9092"),
        ("schema.history.internal.store.only.captured.tables.ddl", "false"),
        ("schema.history.internal.store.only.captured.databases.ddl", "true"),
        ("schema.history.internal.skip.unparseable.ddl", "false"),
        ("errors.tolerance", "none"),
        ("topic.heartbeat.name", "shop.headgate-heartbeat"),
    ],
)
def test_each_line_that_a_capture_needs_is_there(key: str, value: str) -> None:
    assert built()[key] == value


@pytest.mark.parametrize("key", ["slot.name", "publication.name", "plugin.name", "post.processors", "database.dbname"])
def test_lines_of_another_kind_of_database_are_not_there(key: str) -> None:
    assert key not in built()


def test_the_server_id_follows_from_the_pipeline_and_stays_within_a_signed_number() -> None:
    chosen, derived = built(own={"server_id": 4711}), built()
    assert chosen["database.server.id"] == "4711"
    assert 100_000_000 <= int(derived["database.server.id"]) <= 2**31 - 1
    assert derived["database.server.id"] == built()["database.server.id"]


@pytest.mark.parametrize(
    ("host", "locking"),
    [
        ("db.example", "minimal"),
        ("shop.abc.eu-west-1.rds.amazonaws.com", "none"),
        ("SHOP.MYSQL.DATABASE.AZURE.COM.", "none"),
    ],
)
def test_no_lock_is_taken_where_a_global_one_is_refused(host: str, locking: str) -> None:
    assert built(address={"host": host})["snapshot.locking.mode"] == locking
    assert built(address={"host": host}, own={"snapshot_locking": "minimal"})["snapshot.locking.mode"] == "minimal"


@pytest.mark.parametrize(
    ("mode", "value", "retrieves_key"),
    [
        (SslMode.DISABLE, "disabled", True),
        (SslMode.PREFER, "preferred", True),
        (SslMode.REQUIRE, "required", False),
        (SslMode.VERIFY_CA, "verify_ca", False),
        (SslMode.VERIFY_FULL, "verify_identity", False),
    ],
)
def test_the_mode_of_encryption_is_that_of_the_address(mode: SslMode, value: str, retrieves_key: bool) -> None:
    config = built(address={"ssl_mode": mode})
    assert config["database.ssl.mode"] == value
    assert config.get("database.allowPublicKeyRetrieval") == ("true" if retrieves_key else None)


def test_a_certificate_that_workers_cannot_be_given_is_refused() -> None:
    address = {"ssl_mode": SslMode.VERIFY_FULL}
    with pytest.raises(Invalid) as refused:
        built(address=address, secrets=("password", "ca_certificate"))
    assert refused.value.details[0]["type"] == "ca_not_deliverable"
    # Where nothing is verified, the certificate is of no use and does no harm.
    assert built(secrets=("password", "ca_certificate"))["database.ssl.mode"] == "preferred"


def test_several_databases_are_named_exactly_and_once() -> None:
    tables = (TableName("shop", "a"), TableName("shop", "b"), TableName("Ware.house", "a,b"))
    config = built(tables=tables)
    databases = re.split(r"(?<!\\),", config["database.include.list"])
    assert [bool(re.fullmatch(pattern, "Ware.house")) for pattern in databases] == [True, False]
    assert [bool(re.fullmatch(pattern, "shop")) for pattern in databases] == [False, True]
    patterns = re.split(r"(?<!\\),", config["table.include.list"])
    assert len(patterns) == 3
    assert re.fullmatch(patterns[2], "Ware.house.a,b")
    assert not re.fullmatch(patterns[2], "ware.house.a,b")


def test_a_heartbeat_table_is_written_to_and_captured() -> None:
    beat = TableName("shop", "beat`s")
    config = built(options=CaptureOptions(heartbeat_table=beat))
    assert config["heartbeat.action.query"] == (
        "INSERT INTO `shop`.`beat``s` (id, ts) VALUES (1, now()) ON DUPLICATE KEY UPDATE ts = now()"
    )
    assert "beat" in config["table.include.list"]


def test_columns_are_left_out_by_their_full_name() -> None:
    options = CaptureOptions(exclude_columns=(ColumnName("shop", "orders", "note"),))
    assert built(options=options)["column.exclude.list"] == r"(?-i:shop\.orders\.note)"


def test_a_time_zone_and_other_brokers_are_those_that_were_chosen() -> None:
    own = {"connection_time_zone": "Europe/Berlin", "history_bootstrap_servers": "inside:9092"}
    config = built(own=own)
    assert config["database.connectionTimeZone"] == "Europe/Berlin"
    assert config["schema.history.internal.kafka.bootstrap.servers"] == "inside:9092"


@pytest.mark.parametrize("mode", list(SnapshotMode))
def test_every_snapshot_mode_is_one_of_debeziums(mode: SnapshotMode) -> None:
    assert built(snapshot_mode=mode)["snapshot.mode"] == mode.value


def history_client(config: ConnectorConfig, client: str) -> dict[str, str]:
    prefix = f"schema.history.internal.{client}."
    return {key.removeprefix(prefix): value for key, value in config.items() if key.startswith(prefix)}


def test_brokers_without_sign_in_need_no_line_of_it() -> None:
    assert history_client(built(), "producer") == {}


def test_the_history_signs_in_like_headgate_with_one_secret_twice() -> None:
    stream = brokers(
        ("password", "ca_certificate", SIGN_IN),
        security_protocol=SecurityProtocol.SASL_SSL,
        sasl_mechanism=SaslMechanism.SCRAM_SHA_512,
        username="headgate",
    )
    config = built(stream=stream)
    expected = {
        "security.protocol": "SASL_SSL",
        "sasl.mechanism": "SCRAM-SHA-512",
        "sasl.jaas.config": f"${{headgate:{STREAM_ID}:sasl_jaas_config}}",
        "ssl.truststore.type": "PEM",
        "ssl.truststore.certificates": f"${{headgate:{STREAM_ID}:ca_certificate}}",
    }
    assert history_client(config, "producer") == history_client(config, "consumer") == expected


def test_the_history_shows_its_certificate_where_brokers_ask_for_one() -> None:
    stream = brokers(("client_certificate", "client_key"), security_protocol=SecurityProtocol.SSL)
    assert history_client(built(stream=stream), "consumer") == {
        "security.protocol": "SSL",
        "ssl.keystore.type": "PEM",
        "ssl.keystore.certificate.chain": f"${{headgate:{STREAM_ID}:client_certificate}}",
        "ssl.keystore.key": f"${{headgate:{STREAM_ID}:client_key}}",
    }


def test_the_history_takes_a_token_with_the_scope_of_now() -> None:
    stream = brokers(
        ("client_secret", SIGN_IN),
        security_protocol=SecurityProtocol.SASL_PLAINTEXT,
        sasl_mechanism=SaslMechanism.OAUTHBEARER,
        token_endpoint_url="https://sso.example/token",
        client_id="headgate",
        scope="kafka",
    )
    lines = history_client(built(stream=stream), "producer")
    assert lines["sasl.oauthbearer.token.endpoint.url"] == "https://sso.example/token"
    assert lines["sasl.oauthbearer.scope"] == "kafka"
    assert lines["sasl.login.callback.handler.class"].endswith("OAuthBearerLoginCallbackHandler")


def test_a_rotated_password_of_the_brokers_gives_another_config() -> None:
    def digest(version: int) -> str | None:
        stream = brokers(
            (), security_protocol=SecurityProtocol.SASL_SSL, sasl_mechanism=SaslMechanism.PLAIN, username="u"
        )
        credentials = Credentials(id=STREAM_ID, fields={"password": version, SIGN_IN: version})
        return BuiltConfig(built(stream=stream), (credentials,)).secrets_digest

    assert digest(1) == digest(1) != digest(2)


def test_what_may_be_set_and_what_is_refused_do_not_meet() -> None:
    half_refused = {"snapshot.fetch.size"}
    assert not set(ALLOWED_PROPERTIES) & set(REFUSED_PROPERTIES) - half_refused
    config = built()
    ours = set(config) - {"errors.max.retries", "snapshot.lock.timeout.ms", "max.queue.size.in.bytes"}
    changeable = {key for key in ours if key in ALLOWED_PROPERTIES}
    assert changeable <= {"connect.timeout.ms", "connect.keep.alive.interval.ms"} | {
        key for key in changeable if key.startswith("topic.creation.")
    }


def test_the_history_topic_is_required_as_debezium_makes_it() -> None:
    capture = Capture(topic_prefix="shop", tables=(ORDERS,))
    (topic,) = MySQLCapture().required_topics(make_pipeline(provider=DatabaseProvider.MYSQL, capture=capture))
    assert topic.name == HISTORY
    assert topic.settings.partitions == 1
    assert topic.settings.configs == {"cleanup.policy": "delete", "retention.ms": "-1", "retention.bytes": "-1"}
