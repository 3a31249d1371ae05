"""Generic webhooks: one JSON object with exactly eight keys, and the headers of Standard Webhooks 1.0.0."""

import json
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from chalicelib.clients.http.addresses import HostCheck
from chalicelib.clients.http.guarded import HttpAnswer
from chalicelib.domain.alerts.backlog import Backlog
from chalicelib.domain.alerts.kinds import TITLES
from chalicelib.domain.alerts.notification import MessageContent
from chalicelib.errors import Unavailable
from chalicelib.kit.clock import Deadline, rfc3339
from chalicelib.kit.hosts import DEFAULT_PORT, HttpsUrl, UrlRefused, parse_url, read_url
from chalicelib.kit.masking import Secret
from chalicelib.notify.contract import Accepted, CheckedConfig, Outcome, OutgoingMessage, Permanent, SenderTools
from chalicelib.notify.errors import error
from chalicelib.notify.http import Post, errors_at, failure_outcome
from chalicelib.notify.texts import TEST_TEXT, cut
from chalicelib.notify.webhook.headers import sendable_headers
from chalicelib.notify.webhook.signature import signature

MAX_ERROR = 4000
"""Characters of an error in the payload: Standard Webhooks advises against bodies of more than 20 kB."""
TEST_EVENT = "TEST_NOTIFICATION"
_FIRST_UNPRIVILEGED_PORT = 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class Webhook:
    """Sends to any URL on the public network, except Headgate's own."""

    post: Post
    check_host: HostCheck
    own_host: str | None

    @classmethod
    def make(cls, tools: SenderTools) -> "Webhook":
        own = read_url(tools.settings.public_url or "")
        post = Post(tools.to_public_hosts, max_bytes=0)
        return cls(post=post, check_host=tools.check_public, own_host=own.host if own else None)

    def check(self, secrets: Mapping[str, Secret]) -> CheckedConfig:
        """Raises Invalid for a URL that is not on the public network."""
        with errors_at("url"):
            url = webhook_url(secrets["url"].reveal(), own_host=self.own_host)
            with suppress(Unavailable):  # the name is resolved again before each request
                self.check_host(url.target.host)
        return CheckedConfig(mask=url.target.mask, secrets={**secrets, "url": Secret(str(url))})

    def send(self, message: OutgoingMessage, secrets: Mapping[str, Secret], deadline: Deadline) -> Outcome:
        """Send one alert. The body is the same in every attempt."""
        try:
            url = webhook_url(secrets["url"].reveal(), own_host=self.own_host)
        except UrlRefused:  # the rules, or Headgate's own host, have changed since the URL was stored
            return Permanent(error("unreachable"))
        body = json.dumps(payload(message)).encode()
        answer = self.post(url, body, _headers(message, body, secrets), deadline)
        if not isinstance(answer, HttpAnswer):
            return answer
        return Accepted() if 200 <= answer.status < 300 else failure_outcome(answer, message.attempt_at)


def webhook_url(text: str, *, own_host: str | None = None) -> HttpsUrl:
    """The URL of a webhook on the public network; `own_host` is the host of Headgate. Raises UrlRefused.

    `clients.http.addresses` checks addresses and names of private networks when a name is resolved.
    """
    url = parse_url(text)
    host, port = url.target.host, url.target.port
    if "." not in host and not host.startswith("["):
        raise UrlRefused("url_host")
    if port != DEFAULT_PORT and port < _FIRST_UNPRIVILEGED_PORT:
        raise UrlRefused("url_port")
    if own_host and host == own_host:
        raise UrlRefused("url_own_host")
    return url


def payload(message: OutgoingMessage) -> dict[str, Any]:
    """The body about one alert. It is the same in every attempt, except for the time of a test notification."""
    if message.is_digest:
        raise ValueError("a webhook takes one alert at a time")
    if message.is_test:
        return {
            "event": TEST_EVENT,
            "severity": "info",
            "status": "test",
            "timestamp": rfc3339(message.attempt_at),
            "pipeline": None,
            "connector": None,
            "error": None,
            "alert": {"id": None, "title": TEST_TEXT},
        }
    line = message.lines[0]
    content = line.content
    return {
        "event": content.event,
        "severity": content.severity,
        "status": content.kind,
        "timestamp": rfc3339(content.at),
        "pipeline": {"id": content.pipeline_id, "name": content.pipeline_name} if content.pipeline_id else None,
        "connector": content.connector_name,
        "error": cut(content.error, MAX_ERROR),
        "alert": {**_alert(content), "firing_failed": line.firing_failed},
    }


def _alert(content: MessageContent) -> dict[str, Any]:
    return {
        "id": content.alert_id,
        "title": content.title or TITLES[content.event],
        "source": {"type": content.emitter_type, "name": content.emitter_name},
        "task_id": content.task_id,
        "hint": content.hint,
        "waiting": _waiting(content.backlog),
        "since": rfc3339(content.waiting_since) if content.waiting_since else None,
        "lost": content.lost,
        "first_seen_at": rfc3339(content.first_seen_at),
        "recovery_seconds": content.recovery_seconds,
        "muted_before": content.muted_before,
        "affected": content.affected,
        "link": content.link,
    }


def _waiting(backlog: Backlog | None) -> dict[str, int | None] | None:
    return {"records": backlog.records, "retained_bytes": backlog.retained_bytes} if backlog else None


def _headers(message: OutgoingMessage, body: bytes, secrets: Mapping[str, Secret]) -> dict[str, str]:
    custom: Mapping[str, str] = json.loads(secrets["headers"].reveal()) if "headers" in secrets else {}
    # The body is JSON, whatever a custom header says.
    headers = {name: value for name, value in sendable_headers(custom).items() if name != "content-type"}
    if "authorization" in secrets:
        headers["authorization"] = secrets["authorization"].reveal()
    at = str(int(message.attempt_at.timestamp()))
    headers |= {"webhook-id": message.delivery_id, "webhook-timestamp": at, "idempotency-key": message.delivery_id}
    if "signing_secret" in secrets:
        headers["webhook-signature"] = signature(secrets["signing_secret"], message.delivery_id, at, body)
    return headers
