"""One POST to a provider, and what every provider's status means."""

import json
import re
from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from typing import Any

from chalicelib.clients.guarded_http import GuardedHttp, HttpAnswer, NoAnswer
from chalicelib.domain.alerts.urls import TargetUrl
from chalicelib.errors import Invalid, Unavailable
from chalicelib.kit.clock import Deadline
from chalicelib.notify.contract import ATTEMPT_SECONDS, Ambiguous, Outcome, Permanent, RateLimited, Transient
from chalicelib.notify.errors import error

MOST_ANSWER_BYTES = 4096
LONGEST_WAIT = timedelta(hours=1)
"""Of what a provider asks for."""

MakeHttp = Callable[[str], GuardedHttp]
"""A new client for a URL, so that the addresses of its host are checked for every request. It cuts long answers."""

_RETRIED = frozenset({408, 425})
_SECONDS = re.compile(r"[0-9]{1,9}(\.[0-9]{1,9})?\Z")


@dataclass(frozen=True, slots=True)
class Post:
    """Sends one request, without following redirects, and reads at most `max_bytes` of the answer."""

    make_http: MakeHttp
    max_bytes: int = MOST_ANSWER_BYTES

    def __call__(
        self, url: TargetUrl, body: bytes, headers: Mapping[str, str], deadline: Deadline
    ) -> HttpAnswer | Outcome:
        """The answer, or the outcome when there is none."""
        if deadline.passed:
            return Transient(error("unreachable"))
        within = Deadline.after(deadline.remaining(ATTEMPT_SECONDS))
        with closing(self.make_http(str(url))) as http:
            try:
                return http.send(
                    "POST",
                    content=body,
                    headers={**headers, "Content-Type": "application/json"},
                    deadline=within,
                    seconds=ATTEMPT_SECONDS,
                    max_bytes=self.max_bytes,
                )
            except Invalid:
                return Permanent(error("destination_blocked"))
            except Unavailable:
                return Transient(error("unreachable"))
            except NoAnswer as lost:
                return Ambiguous(error("timed_out" if lost.late else "connection_lost"))


def failed(answer: HttpAnswer, now: datetime) -> Outcome:
    """What a status other than success means where the provider says nothing more."""
    status = answer.status
    if status == 429:
        return RateLimited(error("rate_limited"), retry_after=retry_after(answer, now))
    if status >= 500 or status in _RETRIED:
        return Transient(error("server_error"), retry_after=retry_after(answer, now))
    return Permanent(error(_code(status)))


def _code(status: int) -> str:
    if 300 <= status < 400:
        return "redirected"
    return {401: "unauthorized", 403: "unauthorized", 404: "not_found", 410: "not_found"}.get(status, "refused")


def retry_after(answer: HttpAnswer, now: datetime) -> timedelta | None:
    """How long the answer's `Retry-After` asks to wait, in seconds or until a date; at most `LONGEST_WAIT`."""
    text = answer.headers.get("retry-after", "").strip()
    if _SECONDS.match(text):
        return bounded_wait(float(text))
    try:
        until = parsedate_to_datetime(text)
    except ValueError:
        return None
    return bounded_wait(((until if until.tzinfo else until.replace(tzinfo=UTC)) - now).total_seconds())


def bounded_wait(seconds: object) -> timedelta | None:
    """A number of seconds that a provider sent, from 0 to `LONGEST_WAIT`; None for anything else."""
    if isinstance(seconds, bool) or not isinstance(seconds, (int, float)) or seconds != seconds:
        return None
    return timedelta(seconds=min(max(float(seconds), 0.0), LONGEST_WAIT.total_seconds()))


def json_object(content: bytes | None) -> Mapping[str, Any]:
    """The JSON object in an answer; empty when there is none."""
    try:
        found = json.loads(content or b"")
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}
