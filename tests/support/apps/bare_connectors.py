"""Connectors that a test gives to a real Kafka Connect itself: Headgate would refuse them, by its readiness."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import httpx
from confluent_kafka import Consumer

from chalicelib.domain.addresses import KafkaAddress
from chalicelib.domain.cluster import StreamCluster
from chalicelib.domain.credentials import Credentials
from chalicelib.domain.pipeline import Pipeline
from chalicelib.domain.providers.registry import capture_provider
from chalicelib.domain.source import Source
from infra.local.stack.real_stack import RealStack
from tests.support.entities import NOW
from tests.support.topic_ends import end_offset

_REFERENCE = re.compile(r"\$\{headgate:[^:}]+:([^}]+)\}")


@dataclass(frozen=True, kw_only=True)
class BareConnectors:
    """Kafka Connect and Kafka of the stack, without a Headgate."""

    stack: RealStack
    client: httpx.Client = field(repr=False)
    consumer: Consumer = field(repr=False)

    @classmethod
    def of(cls, stack: RealStack) -> "BareConnectors":
        consumer = Consumer({"bootstrap.servers": stack.addresses.kafka, "group.id": "bare-connectors"})
        return cls(stack=stack, client=httpx.Client(base_url=stack.addresses.connect, timeout=90), consumer=consumer)

    def config(self, pipeline: Pipeline, source: Source, secrets: Mapping[str, str]) -> dict[str, str]:
        """The config that Headgate builds, with the secrets themselves in place of their references."""
        address = KafkaAddress(bootstrap_servers=self.stack.addresses.kafka)
        cluster = StreamCluster(
            id="k", name="k", address=address, credentials=Credentials(id="k"), created_at=NOW, updated_at=NOW
        )
        credentials = replace(source.credentials, fields=dict.fromkeys(secrets, 1))
        built = capture_provider(pipeline.provider).build_config(
            pipeline, replace(source, credentials=credentials), cluster
        )
        return {key: _REFERENCE.sub(lambda found: secrets[found[1]], value) for key, value in built.lines.items()}

    def create(self, name: str, config: Mapping[str, str]) -> bool:
        """Whether Kafka Connect takes it."""
        response = self.client.post("/connectors", json={"name": name, "config": config})
        assert response.status_code in (201, 400), response.text[:2000]
        return response.status_code == 201

    def states(self) -> Mapping[str, str]:
        """By name: FAILED where the connector or its task has, else the state of its task; "" while it has none."""
        answer: dict[str, Any] = self.client.get("/connectors?expand=status").raise_for_status().json()
        return {name: _state(one.get("status", {})) for name, one in answer.items()}

    def trace(self, name: str) -> str:
        status = self.client.get(f"/connectors/{name}/status").raise_for_status().json()
        return str(next((task.get("trace", "") for task in status["tasks"]), ""))

    def move(self, name: str, verb: str) -> None:
        """Stops or resumes it."""
        self.client.put(f"/connectors/{name}/{verb}").raise_for_status()

    def delete(self, name: str) -> None:
        self.client.delete(f"/connectors/{name}")

    def records(self, topic: str) -> int:
        """How many there are; 0 for a topic that does not exist."""
        # A topic that was asked for before it existed is unknown to the client for a while.
        if topic not in self.consumer.list_topics(timeout=10).topics:
            return 0
        return end_offset(self.consumer, topic, 0)

    def close(self) -> None:
        self.consumer.close()
        self.client.close()


def _state(status: Mapping[str, Any]) -> str:
    tasks = [task["state"] for task in status.get("tasks", [])]
    states = [status.get("connector", {}).get("state", ""), *tasks]
    return "FAILED" if "FAILED" in states else tasks[0] if tasks else ""
