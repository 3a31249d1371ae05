"""kafka-python's admin client, with a total time limit and with connections to checked addresses only.

It imports kafka-python: import it lazily.
"""

import logging
import ssl
import threading
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, TypeVar

from kafka.admin import KafkaAdminClient
from kafka.errors import AuthorizationError, KafkaError, KafkaTimeoutError, SaslAuthenticationFailedError
from kafka.net.compat import KafkaNetClient
from kafka.net.manager import KafkaConnectionManager
from kafka.net.sasl.oauth import AbstractTokenProvider
from kafka.net.selector import NetworkSelector

from chalicelib.clients.addresses import HostCheck
from chalicelib.clients.kafka.guarded_socket import GuardedUrl
from chalicelib.kit.clock import Deadline
from chalicelib.kit.masking import Secret

MAX_ANSWER_BYTES = 64 * 1024 * 1024
_JOIN_MILLISECONDS = 200

R = TypeVar("R")

# What a server says goes into kafka-python's messages, and none of that may reach our log.
logging.getLogger("kafka").propagate = False
logging.getLogger("kafka").addHandler(logging.NullHandler())


class SignInRefused(KafkaError):  # type: ignore[misc]  # kafka-python has no types
    """The brokers do not accept who we are."""


class NotTrusted(KafkaError):  # type: ignore[misc]
    """No TLS connection could be made: one side does not trust the other's certificate, or there is no TLS."""


class StaticToken(AbstractTokenProvider):  # type: ignore[misc]  # kafka-python has no types
    """One token, fetched before the brokers are contacted."""

    def __init__(self, token: Secret) -> None:
        super().__init__()
        self._token = token

    def token(self) -> str:
        return self._token.reveal()


class Admin:
    """One connected admin client. Close it. All of its calls end at the deadline that it was made with."""

    def __init__(self, settings: Mapping[str, Any], check_host: HostCheck, deadline: Deadline) -> None:
        """Connect. Raises KafkaError, SignInRefused."""
        milliseconds = max(1, int(deadline.remaining() * 1000))
        self._net = NetworkSelector(client_id="headgate")
        # kafka-python limits single requests; at the deadline this ends whatever is still waited for.
        self._end = threading.Timer(deadline.remaining(), self._stop)
        self._end.daemon = True
        self._end.start()
        self._guard = GuardedUrl.of(check_host)
        self._made: list[KafkaNetClient] = []
        try:
            self.client = KafkaAdminClient(
                **settings,
                client_id="headgate",
                proxy_url=self._guard,
                bootstrap_timeout_ms=milliseconds,
                request_timeout_ms=milliseconds,
                receive_message_max_bytes=MAX_ANSWER_BYTES,
                kafka_client=self._make,
            )
        except KafkaError as error:
            self.close()
            raise _reason(error) from None

    def run(self, question: Callable[..., Awaitable[R]], *arguments: Any) -> R:
        """What `question` finds out with the connections of this client. Raises KafkaError."""
        manager = self._made[0]._manager  # noqa: SLF001 - kafka-python's own calls fail for the first thing unreadable
        found: R = manager.run(question, manager, *arguments)
        return found

    def close(self) -> None:
        """End all connections, and the thread that serves them."""
        self._end.cancel()
        self._stop()
        for client in self._made:
            client.close()
        self._net.close()
        self._guard.close_sockets()

    def _make(self, **settings: Any) -> KafkaNetClient:
        """The client that the admin client uses, connected. The admin client itself would try again and again until its
        time is over, also after a wrong password, and would not say why.
        """
        client = KafkaNetClient(net=self._net, **settings)
        self._made.append(client)
        manager = client._manager  # noqa: SLF001 - nothing else tells why a connection failed
        manager.run(_connect, manager, settings["bootstrap_timeout_ms"])
        return client

    def _stop(self) -> None:
        self._net.stop(timeout_ms=_JOIN_MILLISECONDS)


async def _connect(manager: KafkaConnectionManager, milliseconds: int) -> None:
    """Connect to the first bootstrap server that lets us in; raise why the last one does not."""
    last: Exception = KafkaTimeoutError()
    for server in manager.cluster.bootstrap_brokers():
        connection = manager.get_connection(
            server.node_id, timeout_ms=milliseconds, refresh_metadata_on_err=False, reset_backoff_on_connect=False
        )
        try:
            await connection
        except Exception as error:  # noqa: BLE001 - whatever it is, the next server may do better
            # A broker that does not let us in says so and ends the connection; often only the end is noticed.
            answered = connection.broker_version_data is not None
            last = SignInRefused() if manager.config["sasl_mechanism"] and answered else error
        else:
            return
    raise last


def _reason(error: KafkaError) -> KafkaError:
    if isinstance(error, SaslAuthenticationFailedError | AuthorizationError):
        return SignInRefused()
    causes = (error.__context__, *error.args)
    return NotTrusted() if any(isinstance(cause, ssl.SSLError) for cause in causes) else error
