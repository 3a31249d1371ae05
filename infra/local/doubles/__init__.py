"""The doubles of the sandbox: a Kafka broker and a Kafka Connect that works with it."""

from dataclasses import dataclass

from infra.local.doubles.connect import ConnectDouble
from infra.local.doubles.connect_timeline import Delays
from infra.local.doubles.kafka import KafkaDouble

__all__ = ["Delays", "Doubles", "start"]


@dataclass(frozen=True, kw_only=True)
class Doubles:
    kafka: str
    connect: str
    kafka_double: KafkaDouble
    connect_double: ConnectDouble

    def stop(self) -> None:
        self.connect_double.stop()
        self.kafka_double.stop()


def start(
    *,
    headgate_url: str,
    service_credential: str,
    kafka_port: int = 0,
    connect_port: int = 0,
    delays: Delays | None = None,
) -> Doubles:
    """Start a broker and a Connect worker on 127.0.0.1, on free ports where the port is 0. OSError: a port is taken."""
    cluster_id = "sandbox"
    kafka = KafkaDouble(port=kafka_port, cluster_id=cluster_id).start()
    connect = ConnectDouble(
        headgate_url=headgate_url,
        service_credential=service_credential,
        port=connect_port,
        cluster_id=cluster_id,
        broker=kafka.state,
        delays=delays,
        heartbeats=True,
    )
    try:
        connect.start()
    except OSError:
        kafka.stop()
        raise
    return Doubles(kafka=kafka.address, connect=connect.url, kafka_double=kafka, connect_double=connect)
