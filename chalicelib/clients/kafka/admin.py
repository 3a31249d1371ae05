"""kafka-python's admin client, with a total time limit and with connections to checked addresses only.

It imports kafka-python: import it lazily.
"""

import logging
import threading
from collections.abc import Mapping
from typing import Any

from kafka.admin import ConfigResource, ConfigResourceType, KafkaAdminClient, OffsetSpec
from kafka.errors import AuthorizationError, KafkaError, SaslAuthenticationFailedError
from kafka.net.compat import KafkaNetClient
from kafka.net.sasl.oauth import AbstractTokenProvider
from kafka.net.selector import NetworkSelector

from chalicelib.clients.addresses import HostCheck
from chalicelib.clients.kafka.guarded_socket import GuardedUrl
from chalicelib.kit.clock import Deadline
from chalicelib.kit.masking import Secret

__all__ = ["Admin", "ConfigResource", "ConfigResourceType", "KafkaError", "OffsetSpec", "SignInRefused", "StaticToken"]

MAX_ANSWER_BYTES = 64 * 1024 * 1024
_JOIN_MILLISECONDS = 200

# What a server says goes into kafka-python's messages, and none of that may reach our log.
logging.getLogger("kafka").propagate = False
logging.getLogger("kafka").addHandler(logging.NullHandler())


class SignInRefused(KafkaError):  # type: ignore[misc]  # kafka-python has no types
    """The brokers do not accept who we are."""


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
            refused = self._was_refused()
            self.close()
            raise SignInRefused if refused else error from None

    def close(self) -> None:
        """End all connections, and the thread that serves them."""
        self._end.cancel()
        self._stop()
        for client in self._made:
            client.close()
        self._net.close()
        self._guard.close_sockets()

    def _make(self, **settings: Any) -> KafkaNetClient:
        self._made.append(KafkaNetClient(net=self._net, **settings))
        return self._made[-1]

    def _was_refused(self) -> bool:
        """Whether a bootstrap server did not let us in; kafka-python only says that it could not connect in time."""
        nodes = {client: client.cluster.bootstrap_brokers() for client in self._made}
        failures = (
            client._manager.auth_failure(node.node_id)  # noqa: SLF001 - the admin client has no way to ask
            for client, brokers in nodes.items()
            for node in brokers
        )
        return any(isinstance(one, SaslAuthenticationFailedError | AuthorizationError) for one in failures)

    def _stop(self) -> None:
        self._net.stop(timeout_ms=_JOIN_MILLISECONDS)
