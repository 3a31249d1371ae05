"""The topic in which the connector keeps the definitions of all tables: without it, it cannot start again.

Its producer and consumer are Kafka clients of the connector's own. They inherit nothing from the worker, so each line
stands twice (Debezium 3.6, KafkaSchemaHistory).
"""

from collections.abc import Iterator, Mapping

from chalicelib.domain.addresses import KafkaAddress, SaslMechanism
from chalicelib.domain.cluster import StreamCluster
from chalicelib.domain.connector_config import ConnectorConfig
from chalicelib.domain.credentials import Credentials
from chalicelib.domain.pipeline import Pipeline
from chalicelib.domain.providers.mysql.capture_options import MySQLCaptureOptions

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


def history_topic(pipeline: Pipeline) -> str:
    """Below the prefix, so that rights on the prefix are enough; with the id, so that no two pipelines share it.

    After lost changes the next one begins: what the earlier one says of another log, or cannot be read, would stop each
    later start ("Cannot compare binlog filenames with different base names").
    """
    number = f"-{pipeline.gaps_passed}" if pipeline.gaps_passed else ""
    return f"{pipeline.capture.topic_prefix}.headgate-history-{pipeline.id}{number}"


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
        yield "sasl.jaas.config", credentials.reference("sasl_jaas_config")
        if address.sasl_mechanism is SaslMechanism.OAUTHBEARER:
            yield "sasl.login.callback.handler.class", _OAUTH_HANDLER
            yield "sasl.oauthbearer.token.endpoint.url", address.token_endpoint_url or ""
    if protocol.has_tls and "ca_certificate" in credentials.fields:
        yield "ssl.truststore.type", "PEM"
        yield "ssl.truststore.certificates", credentials.reference("ca_certificate")
    if protocol.has_tls and {"client_certificate", "client_key"} <= credentials.fields.keys():
        yield "ssl.keystore.type", "PEM"
        yield "ssl.keystore.certificate.chain", credentials.reference("client_certificate")
        yield "ssl.keystore.key", credentials.reference("client_key")
