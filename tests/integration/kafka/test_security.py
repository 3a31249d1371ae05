"""Every protocol and mechanism against a real broker: it lets in who has the right secrets, and nobody else."""

import base64
import json
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qs

import pytest
from confluent_kafka.admin import (
    AdminClient,
    NewTopic,
    ScramCredentialInfo,
    ScramMechanism,
    UserScramCredentialUpsertion,
)

from chalicelib.clients.http.addresses import AddressPolicy
from chalicelib.clients.kafka.client import Kafka
from chalicelib.domain.addresses import KafkaAddress, SaslMechanism, SecurityProtocol
from chalicelib.domain.endpoint import OpenedEndpoint
from chalicelib.errors import Unavailable
from chalicelib.kit.clock import Deadline
from chalicelib.kit.masking import Secret
from infra.local.doubles.authority import Authority, Pair
from infra.local.process.ports import free_port
from infra.local.stack import kafka
from infra.local.stack.fetch import fetch_all
from infra.local.stack.folders import Folders
from tests.support.servers import running_server

pytestmark = pytest.mark.real
LOOPBACK = AddressPolicy(allow_loopback=True)
PASSWORD = "p4ss,=word"
USERS = {SaslMechanism.PLAIN: "ops", SaslMechanism.SCRAM_SHA_256: "a,b=c", SaslMechanism.SCRAM_SHA_512: "a,b=c"}
"""SCRAM gives commas and equals signs in names a form of their own."""
CLIENT_ID, CLIENT_SECRET = "headgate & co", "cl1ent:secret"
SCRAM = {
    SaslMechanism.SCRAM_SHA_256: ScramMechanism.SCRAM_SHA_256,
    SaslMechanism.SCRAM_SHA_512: ScramMechanism.SCRAM_SHA_512,
}
NO_SECRETS: dict[str, str] = {}


@dataclass(frozen=True, kw_only=True)
class Broker:
    """A real broker with a listener for each protocol, by its name, and who signed its certificates."""

    ports: dict[str, int]
    authority: Authority
    client: Pair
    token_endpoint: str

    def ask(
        self, protocol: SecurityProtocol, mechanism: SaslMechanism | None = None, secrets: dict[str, str] = NO_SECRETS
    ) -> str:
        """The cluster's id, as our client reads it."""
        oauth = mechanism is SaslMechanism.OAUTHBEARER
        address = KafkaAddress(
            bootstrap_servers=f"127.0.0.1:{self.ports[protocol]}",
            security_protocol=protocol,
            sasl_mechanism=mechanism,
            username=USERS.get(mechanism) if mechanism else None,
            token_endpoint_url=self.token_endpoint if oauth else None,
            client_id=CLIENT_ID if oauth else None,
            scope="kafka" if oauth else None,
        )
        trusted = {"ca_certificate": self.authority.certificate} if protocol.has_tls else {}
        endpoint = OpenedEndpoint(address, {name: Secret(text) for name, text in (trusted | secrets).items()})
        with closing(Kafka(endpoint, check_host=LOOPBACK)) as client:
            assert client.topics(Deadline.after(10)) >= {"orders"}
            return client.cluster_id(Deadline.after(10))


@contextmanager
def token_endpoint() -> Iterator[str]:
    """Gives tokens of the unsigned kind that a broker without further settings takes."""
    basic = "Basic " + base64.b64encode(b"headgate+%26+co:cl1ent%3Asecret").decode()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            form = parse_qs(self.rfile.read(int(self.headers["Content-Length"])).decode())
            right = form == {"grant_type": ["client_credentials"], "scope": ["kafka"]}
            right = right and self.headers["Authorization"] == basic
            body = json.dumps({"access_token": unsigned_token(), "token_type": "bearer"} if right else {}).encode()
            self.send_response(200 if right else 401)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:
            """Prints nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}/oauth/token"
        server.shutdown()


def unsigned_token() -> str:
    claims = {"sub": "headgate", "iat": int(time.time()), "exp": int(time.time()) + 600, "scope": "kafka"}
    parts = [json.dumps(part).encode() for part in ({"alg": "none"}, claims)]
    return ".".join(base64.urlsafe_b64encode(part).decode().rstrip("=") for part in parts) + "."


@pytest.fixture(scope="module")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Broker]:
    """The broker, with one topic and one SCRAM user."""
    folder, authority = tmp_path_factory.mktemp("kafka"), Authority()
    names = ("PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL", "CONTROLLER")
    ports: dict[str, int] = {}
    for name in names:
        ports[name] = free_port(ports.values())
    plan = kafka.plan(fetch_all().kafka, Folders(folder), port=ports["PLAINTEXT"], controller_port=ports["CONTROLLER"])
    with (folder / "kafka" / "broker.properties").open("a") as file:
        file.writelines(f"{key}={value}\n" for key, value in security_settings(folder, ports, authority).items())
    with running_server(plan), token_endpoint() as url:
        prepare(f"127.0.0.1:{ports['PLAINTEXT']}")
        yield Broker(ports=ports, authority=authority, client=authority.sign("headgate"), token_endpoint=url)


def security_settings(folder: Path, ports: dict[str, int], authority: Authority) -> dict[str, str]:
    pair = authority.sign("broker")
    (folder / "own.pem").write_text(pair.key + pair.certificate)
    (folder / "trusted.pem").write_text(authority.certificate)
    security = "org.apache.kafka.common.security"
    settings = {
        "listeners": ",".join(f"{name}://127.0.0.1:{port}" for name, port in ports.items()),
        "advertised.listeners": ",".join(f"{n}://127.0.0.1:{p}" for n, p in ports.items() if n != "CONTROLLER"),
        "listener.security.protocol.map": ",".join(
            f"{name}:{'PLAINTEXT' if name == 'CONTROLLER' else name}" for name in ports
        ),
        "sasl.enabled.mechanisms": ",".join(SaslMechanism),
        "ssl.keystore.type": "PEM",
        "ssl.keystore.location": str(folder / "own.pem"),
        "ssl.truststore.type": "PEM",
        "ssl.truststore.location": str(folder / "trusted.pem"),
        "listener.name.ssl.ssl.client.auth": "required",
    }
    for listener in ("sasl_plaintext", "sasl_ssl"):
        prefix = f"listener.name.{listener}"
        settings[f"{prefix}.plain.sasl.jaas.config"] = (
            f'{security}.plain.PlainLoginModule required user_{USERS[SaslMechanism.PLAIN]}="{PASSWORD}";'
        )
        for mechanism in SCRAM:
            settings[f"{prefix}.{mechanism.lower()}.sasl.jaas.config"] = f"{security}.scram.ScramLoginModule required;"
        settings[f"{prefix}.oauthbearer.sasl.jaas.config"] = (
            f'{security}.oauthbearer.OAuthBearerLoginModule required unsecuredLoginStringClaim_sub="broker";'
        )
    return settings


def prepare(address: str) -> None:
    """Make the topic, and the user of both SCRAM mechanisms."""
    admin = AdminClient({"bootstrap.servers": address, "log_level": 0})
    admin.create_topics([NewTopic("orders", 1, 1)])["orders"].result(20)
    for mechanism, how in SCRAM.items():
        change = UserScramCredentialUpsertion(USERS[mechanism], ScramCredentialInfo(how, 4096), PASSWORD.encode())
        admin.alter_user_scram_credentials([change])[USERS[mechanism]].result(20)


SASL = (SecurityProtocol.SASL_PLAINTEXT, SecurityProtocol.SASL_SSL)


def test_without_protection_the_cluster_is_read(broker: Broker) -> None:
    assert broker.ask(SecurityProtocol.PLAINTEXT)


@pytest.mark.parametrize("protocol", SASL)
@pytest.mark.parametrize("mechanism", USERS)
def test_a_user_with_the_right_password_is_let_in(
    broker: Broker, protocol: SecurityProtocol, mechanism: SaslMechanism
) -> None:
    assert broker.ask(protocol, mechanism, {"password": PASSWORD}) == broker.ask(SecurityProtocol.PLAINTEXT)


@pytest.mark.parametrize("mechanism", USERS)
def test_a_wrong_password_is_refused_in_so_many_words(broker: Broker, mechanism: SaslMechanism) -> None:
    with pytest.raises(Unavailable, match="refuse the credentials"):
        broker.ask(SecurityProtocol.SASL_SSL, mechanism, {"password": "another"})


@pytest.mark.parametrize("protocol", SASL)
def test_a_token_of_the_token_endpoint_lets_in(broker: Broker, protocol: SecurityProtocol) -> None:
    assert broker.ask(protocol, SaslMechanism.OAUTHBEARER, {"client_secret": CLIENT_SECRET})


def test_a_wrong_client_secret_is_refused_by_the_token_endpoint(broker: Broker) -> None:
    with pytest.raises(Unavailable, match="token endpoint answered 401"):
        broker.ask(SecurityProtocol.SASL_SSL, SaslMechanism.OAUTHBEARER, {"client_secret": "another"})


def test_a_token_that_the_broker_does_not_take_is_refused_in_so_many_words(
    broker: Broker, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(globals(), "unsigned_token", lambda: "not.a.token")
    with pytest.raises(Unavailable, match="refuse the credentials"):
        broker.ask(SecurityProtocol.SASL_SSL, SaslMechanism.OAUTHBEARER, {"client_secret": CLIENT_SECRET})


def test_a_client_certificate_lets_in(broker: Broker) -> None:
    pair = {"client_certificate": broker.client.certificate, "client_key": broker.client.key}
    assert broker.ask(SecurityProtocol.SSL, secrets=pair)


def test_a_client_without_or_with_a_foreign_certificate_is_not_let_in(broker: Broker) -> None:
    foreign = Authority().sign("headgate")
    for pair in ({}, {"client_certificate": foreign.certificate, "client_key": foreign.key}):
        with pytest.raises(Unavailable, match="certificates"):
            broker.ask(SecurityProtocol.SSL, secrets=pair)


@pytest.mark.parametrize("protocol", [SecurityProtocol.SSL, SecurityProtocol.SASL_SSL])
def test_brokers_that_another_authority_has_signed_are_not_trusted(broker: Broker, protocol: SecurityProtocol) -> None:
    mechanism = SaslMechanism.PLAIN if protocol.has_sasl else None
    secrets = {"ca_certificate": Authority().certificate, "password": PASSWORD}
    with pytest.raises(Unavailable, match="No trusted TLS connection"):
        broker.ask(protocol, mechanism, secrets)
