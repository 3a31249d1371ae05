"""A POST that may be sent twice and happens once.

A request with an `Idempotency-Key` is known by its principal, method, path and key, and by a keyed digest of its
query and body (keyed, because a body may hold a password that is short enough to be guessed).

What is kept for 24 hours and given again: every answer that the handler reached, success or a definite refusal (404,
409, 412, 422, 502). What is not kept, so that the same key may be tried again:
- refusals before the handler ran (validation, permission, size): nothing happened yet;
- 401 and 429, operations or requests in progress and writes that lost a race: the caller is told to come again;
- 5xx other than 502, and whatever nobody foresaw: the outcome is unknown. The next attempt runs the handler again
  under the same `request_key`, and what the first attempt did is recognised by that;
- answers that set cookies: a session is not something to hand out twice;
- refusals of somebody who is not signed in: strangers shall not be able to fill the table.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

from chalicelib import errors
from chalicelib.api.errors import render, status_of
from chalicelib.api.http import HttpRequest, HttpResponse
from chalicelib.domain.access import RequestContext
from chalicelib.domain.idempotency import Claim, IdempotencyRows, KeptAnswer
from chalicelib.errors import HeadgateError
from chalicelib.kit.clock import Clock
from chalicelib.kit.ids import id_from
from chalicelib.kit.log import failure, get_logger
from chalicelib.kit.pages import Signer

_PASSING_KINDS = (errors.Unauthenticated, errors.RateLimited, errors.RequestInProgress, errors.WriteConflict)
_PASSING_CODES = frozenset({"OPERATION_IN_PROGRESS"})
Run = Callable[[RequestContext], HttpResponse]


@dataclass(frozen=True, slots=True, kw_only=True)
class Once:
    """Runs a request once per key."""

    rows: IdempotencyRows
    signer: Signer
    clock: Clock

    def run(
        self, context: RequestContext, request: HttpRequest, key: str | None, canonical_body: bytes, run: Run
    ) -> HttpResponse:
        """The answer of `run`, or the one that it gave before. Without a key it simply runs."""
        if key is None:
            return run(context)
        request_key = id_from(context.actor.id or context.actor.via, request.method, request.path, key)
        claimed = self.rows.claim(request_key, self._digest(request, canonical_body), self.clock())
        if isinstance(claimed, KeptAnswer):
            return HttpResponse(status=claimed.status, body=claimed.body, headers=dict(claimed.headers))
        return self._first(claimed, replace(context, request_key=request_key), run)

    def _first(self, claim: Claim, context: RequestContext, run: Run) -> HttpResponse:
        try:
            answer = run(context)
        except HeadgateError as error:
            self._settle(claim, render(error) if _is_final(error) and context.actor.id is not None else None)
            raise
        except BaseException:
            self._settle(claim, None)
            raise
        self._settle(claim, answer)
        return answer

    def _settle(self, claim: Claim, answer: HttpResponse | None) -> None:
        """Keeps or forgets. A store that fails here does not make a done request a failed one: the lease just ends."""
        kept = _kept(answer)
        try:
            if kept is None:
                self.rows.release(claim)
            else:
                self.rows.finish(claim, kept)
        except Exception as error:  # noqa: BLE001
            get_logger().error("idempotency row not settled", extra={"failure": failure(error)})

    def _digest(self, request: HttpRequest, canonical_body: bytes) -> str:
        query = repr(sorted((name, list(values)) for name, values in request.query.items())).encode()
        return self.signer.digest("idempotency", query + b"\x00" + canonical_body).hex()


def _is_final(error: HeadgateError) -> bool:
    passing = isinstance(error, _PASSING_KINDS) or error.code in _PASSING_CODES
    return not passing and (status_of(error) < 500 or isinstance(error, errors.Rejected))


def _kept(answer: HttpResponse | None) -> KeptAnswer | None:
    if answer is None or "Set-Cookie" in answer.headers:
        return None
    headers = tuple((name, value) for name, value in answer.headers.items() if isinstance(value, str))
    return KeptAnswer(status=answer.status, headers=headers, body=answer.body)
