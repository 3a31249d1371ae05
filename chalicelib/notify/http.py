"""Sending by HTTP: one POST request, and the outcomes of statuses that all providers share."""

import re
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime

from chalicelib.clients.http.guarded import HttpAnswer, NoAnswer
from chalicelib.domain.alerts.pacing import MAX_RETRY_AFTER
from chalicelib.errors import Invalid, Unavailable, fault
from chalicelib.kit.clock import Deadline
from chalicelib.kit.hosts import HttpsUrl, UrlRefused
from chalicelib.notify.contract import ATTEMPT_SECONDS, Ambiguous, HttpFactory, Outcome, Permanent, Throttled, Transient
from chalicelib.notify.errors import error

MAX_ANSWER_BYTES = 4096
_RETRIED = frozenset({408, 425})
_CODES = {401: "unauthorized", 403: "unauthorized", 404: "not_found", 410: "not_found"}
_SECONDS = re.compile(r"[0-9]{1,9}(\.[0-9]{1,9})?\Z")


@dataclass(frozen=True, slots=True)
class Post:
    """Sends one request, without following redirects, and reads at most `max_bytes` of the answer."""

    make_http: HttpFactory
    max_bytes: int = MAX_ANSWER_BYTES

    def __call__(
        self, url: HttpsUrl, body: bytes, headers: Mapping[str, str], deadline: Deadline
    ) -> HttpAnswer | Outcome:
        """The answer, or the outcome of a request without an answer."""
        if deadline.passed:
            return Transient(error("unreachable"))
        limit = deadline.within(ATTEMPT_SECONDS)
        with closing(self.make_http(str(url))) as http:
            try:
                return http.send(
                    "POST",
                    content=body,
                    headers={**headers, "Content-Type": "application/json"},
                    deadline=limit,
                    seconds=ATTEMPT_SECONDS,
                    max_bytes=self.max_bytes,
                )
            except Invalid:
                return Permanent(error("unreachable"))
            except Unavailable:
                return Transient(error("unreachable"))
            except NoAnswer:
                return Ambiguous(error("unreachable"))


@contextmanager
def errors_at(field: str) -> Iterator[None]:
    """Adds the field of the config to the error for its address."""
    try:
        yield
    except Invalid as refusal:
        rule = refusal.rule if isinstance(refusal, UrlRefused) else "address_not_allowed"
        details = [fault("body", "config", field, type_=rule, message=refusal.message)]
        raise Invalid(refusal.message, code=refusal.code, details=details) from None


def failure_outcome(answer: HttpAnswer, now: datetime, wait: timedelta | None = None) -> Outcome:
    """The outcome of an answer that is no success. `wait`, from its body, comes before a `Retry-After`."""
    status = answer.status
    if status < 300:
        return Permanent(error("unexpected_answer"))
    if status == 429:
        asked = retry_after(answer, now)
        return Throttled(error("rate_limited"), retry_after=asked if asked is not None and not wait else wait)
    if status >= 500 or status in _RETRIED:
        return Transient(error("server_error"), retry_after=retry_after(answer, now))
    return Permanent(error("redirected" if 300 <= status < 400 else _CODES.get(status, "refused")))


def retry_after(answer: HttpAnswer, now: datetime) -> timedelta | None:
    """How long the answer's `Retry-After` asks to wait, in seconds or until a date: see `bounded_wait`."""
    text = answer.headers.get("retry-after", "").strip()
    if _SECONDS.match(text):
        return bounded_wait(float(text))
    try:
        until = parsedate_to_datetime(text)
    except ValueError:
        return None
    return bounded_wait(((until if until.tzinfo else until.replace(tzinfo=UTC)) - now).total_seconds())


def bounded_wait(seconds: object) -> timedelta | None:
    """A number of seconds that a provider sent, from 0 to `MAX_RETRY_AFTER`; None for anything else."""
    if isinstance(seconds, bool) or not isinstance(seconds, (int, float)) or seconds != seconds:
        return None
    return timedelta(seconds=min(max(float(seconds), 0.0), MAX_RETRY_AFTER.total_seconds()))
