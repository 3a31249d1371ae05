"""The topic in which the connector keeps the definitions of all tables: without it, it cannot start again.

Its producer and consumer are Kafka clients of the connector's own. They inherit nothing from the worker, so each line
stands twice (Debezium 3.6, KafkaSchemaHistory).
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from chalicelib.domain.addresses import KafkaAddress, SaslMechanism
from chalicelib.domain.cluster import StreamCluster
from chalicelib.domain.connector_config import ConnectorConfig
from chalicelib.domain.credentials import Credentials
from chalicelib.domain.diagnosis.new_snapshot import GO_ON_AFTER_THE_GAP, NEW_SNAPSHOT
from chalicelib.domain.kafka_sign_in import SIGN_IN
from chalicelib.domain.pipeline import Pipeline
from chalicelib.domain.providers.mysql.capture_options import MySQLCaptureOptions
from chalicelib.domain.readiness import CheckOutcome, Judgement, failed, passed, readiness_check, warned
from chalicelib.domain.topic import RequiredTopic, TopicSettings

_HISTORY = "schema.history.internal"
_OAUTH_HANDLER = "org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginCallbackHandler"

_STORING: Mapping[str, str] = {
    # Debezium's defaults of 3 and 30 seconds are short for brokers far away.
    f"{_HISTORY}.kafka.query.timeout.ms": "10000",
    f"{_HISTORY}.kafka.create.timeout.ms": "60000",
    # Definitions of all tables of the captured databases: one that is captured later needs its own.
    f"{_HISTORY}.store.only.captured.tables.ddl": "false",
    f"{_HISTORY}.store.only.captured.databases.ddl": "true",
    f"{_HISTORY}.skip.unparseable.ddl": "false",
}


_KEPT: Mapping[str, str] = {"cleanup.policy": "delete", "retention.ms": "-1", "retention.bytes": "-1"}
_LONG_ENOUGH: Mapping[str, int] = {"retention.ms": 5 * 365 * 24 * 3600 * 1000, "retention.bytes": 2**60}
"""From here on a limit is as good as none: Debezium itself writes 2^63 - 1."""

HISTORY_LOST = (
    "the connector cannot start again without the definitions of the tables, and what was written since its stored "
    f"position is lost. {NEW_SNAPSHOT} {GO_ON_AFTER_THE_GAP}"
)
_MADE_ANEW = "Delete the topic and deploy again: Headgate makes it as it has to be."


def history_topic(pipeline: Pipeline) -> str:
    """Below the prefix, so that rights on the prefix are enough; with the id, so that no two pipelines share it.

    After lost changes the next one begins: what the earlier one says of another log, or cannot be read, would stop each
    later start ("Cannot compare binlog filenames with different base names").
    """
    number = f"-{pipeline.gaps_passed}" if pipeline.gaps_passed else ""
    return f"{pipeline.capture.topic_prefix}.headgate-history-{pipeline.id}{number}"


def required_history_topic(pipeline: Pipeline) -> RequiredTopic:
    return RequiredTopic(name=history_topic(pipeline), settings=TopicSettings(partitions=1, configs=_KEPT))


@dataclass(frozen=True, slots=True)
class HistoryFacts:
    """The topic's name, and the topics that exist; None when the brokers could not be asked."""

    name: str
    topics: Mapping[str, TopicSettings] | None
    deployed: bool


@readiness_check(
    "history_topic",
    name="Schema history topic",
    description="The topic in which the connector keeps the definitions of tables loses none of them.",
)
def history_check(facts: HistoryFacts, _plan: None) -> Judgement:
    expected = "1 partition, cleanup.policy delete, kept for ever"
    if facts.topics is None:
        action = f"The brokers could not be asked about the topic {facts.name}. Debezium makes it itself if it can."
        return Judgement(CheckOutcome.UNKNOWN, "not known", expected, action)
    topic = facts.topics.get(facts.name)
    if topic is None and facts.deployed:
        return failed("missing", expected, f"The topic {facts.name} was deleted: {HISTORY_LOST}")
    if topic is None:
        return passed("made when the pipeline is deployed", expected)
    if topic.partitions != 1 or topic.configs.get("cleanup.policy", "delete") != "delete":
        current = f"{topic.partitions} partitions, cleanup.policy {topic.configs.get('cleanup.policy')}"
        return failed(current, expected, f"Definitions in the topic {facts.name} get lost. {_MADE_ANEW}")
    return _kept_for_ever(topic, facts.name, expected)


def _kept_for_ever(topic: TopicSettings, name: str, expected: str) -> Judgement:
    limits = {key: topic.configs.get(key, "-1") for key in ("retention.ms", "retention.bytes")}
    short = {key: value for key, value in limits.items() if 0 <= _number(value) < _LONG_ENOUGH[key]}
    if not short:
        return passed("1 partition, kept", expected)
    current = ", ".join(f"{key} {value}" for key, value in short.items())
    settings = ",".join(f"{key}=-1" for key in short)
    action = (
        "Definitions that are older are deleted, and then the connector cannot start again. "
        f"kafka-configs.sh --alter --topic {name} --add-config {settings}"
    )
    return warned(current, expected, action)


def _number(text: str) -> int:
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 20 else -1


def history_lines(pipeline: Pipeline, stream_cluster: StreamCluster) -> ConnectorConfig:
    address, credentials = stream_cluster.address, stream_cluster.credentials
    servers = MySQLCaptureOptions.of(pipeline.capture).history_bootstrap_servers or address.bootstrap_servers
    client = dict(_client_lines(address, credentials))
    return {
        f"{_HISTORY}.kafka.topic": history_topic(pipeline),
        f"{_HISTORY}.kafka.bootstrap.servers": servers,
        **_STORING,
        **{f"{_HISTORY}.producer.{key}": value for key, value in client.items()},
        **{f"{_HISTORY}.consumer.{key}": value for key, value in client.items()},
    }


def _client_lines(address: KafkaAddress, credentials: Credentials) -> Iterator[tuple[str, str]]:
    protocol = address.security_protocol
    if protocol.has_sasl or protocol.has_tls:
        yield "security.protocol", str(protocol)
    if protocol.has_sasl and address.sasl_mechanism:
        yield "sasl.mechanism", str(address.sasl_mechanism)
        # User and password are one value in Kafka's line, and a reference stands for a whole value.
        yield "sasl.jaas.config", credentials.reference(SIGN_IN)
        if address.sasl_mechanism is SaslMechanism.OAUTHBEARER:
            yield "sasl.login.callback.handler.class", _OAUTH_HANDLER
            yield "sasl.oauthbearer.token.endpoint.url", address.token_endpoint_url or ""
            if address.scope:
                # It may have been changed since the line with the client secret was made; Kafka prefers this one.
                yield "sasl.oauthbearer.scope", address.scope
    if protocol.has_tls and "ca_certificate" in credentials.fields:
        yield "ssl.truststore.type", "PEM"
        yield "ssl.truststore.certificates", credentials.reference("ca_certificate")
    if protocol.has_tls and {"client_certificate", "client_key"} <= credentials.fields.keys():
        yield "ssl.keystore.type", "PEM"
        yield "ssl.keystore.certificate.chain", credentials.reference("client_certificate")
        yield "ssl.keystore.key", credentials.reference("client_key")
