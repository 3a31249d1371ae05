"""The admin client of kafka-python, with a total time limit and with connections to checked addresses only.

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

from chalicelib.clients.http.addresses import HostCheck
from chalicelib.clients.kafka.guarded_socket import GuardedUrl
from chalicelib.kit.clock import Deadline
from chalicelib.kit.masking import Secret

MAX_ANSWER_BYTES = 64 * 1024 * 1024
_JOIN_MILLISECONDS = 200

R = TypeVar("R")

# kafka-python logs texts of servers, which must not reach our log.
logging.getLogger("kafka").propagate = False
logging.getLogger("kafka").addHandler(logging.NullHandler())


class SignInRefused(KafkaError):  # type: ignore[misc]  # kafka-python has no types
    """The brokers refuse the credentials."""


class NotTrusted(KafkaError):  # type: ignore[misc]
    """No TLS connection: one side does not trust the certificate of the other, or the broker has no TLS."""


class StaticToken(AbstractTokenProvider):  # type: ignore[misc]  # kafka-python has no types
    """A token that was fetched before the connection."""

    def __init__(self, token: Secret) -> None:
        super().__init__()
        self._token = token

    def token(self) -> str:
        return self._token.reveal()


class Admin:
    """A connected admin client, to be closed. All of its calls end at the deadline."""

    def __init__(self, settings: Mapping[str, Any], check_host: HostCheck, deadline: Deadline) -> None:
        """Connect. Raises KafkaError, SignInRefused."""
        milliseconds = max(1, int(deadline.remaining() * 1000))
        self._net = NetworkSelector(client_id="headgate")
        # kafka-python limits single requests only. At the deadline this timer ends all that still wait.
        self._end = threading.Timer(deadline.remaining(), self._stop)
        self._end.daemon = True
        self._end.start()
        self._guard = GuardedUrl.of(check_host)
        self._clients: list[KafkaNetClient] = []
        try:
            self.client = KafkaAdminClient(
                **settings,
                client_id="headgate",
                proxy_url=self._guard,
                bootstrap_timeout_ms=milliseconds,
                request_timeout_ms=milliseconds,
                receive_message_max_bytes=MAX_ANSWER_BYTES,
                kafka_client=self._new_client,
            )
        except KafkaError as error:
            self.close()
            raise _reason(error) from None
        except BaseException:
            self.close()
            raise

    def run(self, read: Callable[..., Awaitable[R]], *arguments: Any) -> R:
        """The result of `read`, which gets the connections of this client. Raises KafkaError."""
        manager = self._clients[0]._manager  # noqa: SLF001 - the public calls fail when one topic is unreadable
        result: R = manager.run(read, manager, *arguments)
        return result

    def close(self) -> None:
        self._end.cancel()
        # The timer may be at work just now: two threads that stop one client leave its sockets open.
        self._end.join()
        self._stop()
        for client in self._clients:
            client.close()
        self._net.close()
        self._guard.close_sockets()

    def _new_client(self, **settings: Any) -> KafkaNetClient:
        """A connected client for the admin client, which itself would try to connect until its time is over, also after
        a wrong password, and would not give the reason.
        """
        client = KafkaNetClient(net=self._net, **settings)
        self._clients.append(client)
        manager = client._manager  # noqa: SLF001 - only it has the reason of a failed connection
        manager.run(_connect, manager, settings["bootstrap_timeout_ms"])
        return client

    def _stop(self) -> None:
        self._net.stop(timeout_ms=_JOIN_MILLISECONDS)


async def _connect(manager: KafkaConnectionManager, milliseconds: int) -> None:
    """Connect to the first bootstrap server that accepts us. Raises the error of the last one."""
    last: Exception = KafkaTimeoutError()
    for server in manager.cluster.bootstrap_brokers():
        connection = manager.get_connection(
            server.node_id, timeout_ms=milliseconds, refresh_metadata_on_err=False, reset_backoff_on_connect=False
        )
        try:
            await connection
        except Exception as error:  # noqa: BLE001 - after any error the next server may accept us
            # A broker answers wrong credentials and closes the connection; kafka-python often sees the closing only.
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
