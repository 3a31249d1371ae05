"""`Idempotency-Key`: a POST that may be sent twice and is carried out once.

Public routes ignore it. A request with a key is identified by its principal (a user or a token), method, path and key,
and by a keyed digest of its query and body (keyed, because a body may contain a password that is short enough to be
guessed).

The response is stored for 24 hours and sent again when the handler was reached: success or a definite refusal (404,
409, 412, 422, 502). It is not stored, so that the same key may be tried again, for
- refusals before the handler ran (validation, permission, size): nothing happened yet;
- 401 and 429, operations or requests in progress and writes that lost a race: the caller should repeat the request;
- 5xx other than 502, and unexpected errors: the outcome is unknown. The next attempt runs the handler again under the
  same `request_key`, and what the first attempt did is recognised by that;
- responses that set cookies.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

from chalicelib import errors
from chalicelib.api.framework.errors import render, status_of
from chalicelib.api.framework.http import HttpRequest, HttpResponse
from chalicelib.domain.access import RequestContext
from chalicelib.domain.idempotency import Claim, IdempotencyStore, KeptAnswer
from chalicelib.errors import HeadgateError
from chalicelib.kit.clock import Clock
from chalicelib.kit.ids import id_from
from chalicelib.kit.log import failure, get_logger
from chalicelib.kit.pages import Signer

_TEMPORARY_ERRORS = (errors.Unauthenticated, errors.RateLimited, errors.RequestInProgress, errors.WriteConflict)
_TEMPORARY_CODES = frozenset({"OPERATION_IN_PROGRESS"})
Run = Callable[[RequestContext], HttpResponse]


@dataclass(frozen=True, slots=True, kw_only=True)
class IdempotentRequests:
    store: IdempotencyStore
    signer: Signer
    clock: Clock

    def run(
        self,
        context: RequestContext,
        request: HttpRequest,
        key: str,
        canonical_body: bytes,
        run: Run,
        *,
        principal: str,
    ) -> HttpResponse:
        """The response of `run`, or the stored one of an earlier request with the same key.

        Raises what `run` and `IdempotencyStore.claim` raise.
        """
        claim_key = id_from(principal, request.method, request.path, key)
        digest = self._digest(request, canonical_body)
        claim = self.store.claim(claim_key, digest, self.clock())
        if isinstance(claim, KeptAnswer):
            return HttpResponse(status=claim.status, body=claim.body, headers=dict(claim.headers))
        # With the digest: the same key with another body, after 24 hours, is another request.
        return self._run_claimed(claim, replace(context, request_key=id_from(claim_key, digest)), run)

    def _run_claimed(self, claim: Claim, context: RequestContext, run: Run) -> HttpResponse:
        try:
            response = run(context)
        except HeadgateError as error:
            self._settle(claim, render(error) if _is_final(error) else None)
            raise
        except BaseException:
            self._settle(claim, None)
            raise
        self._settle(claim, response)
        return response

    def _settle(self, claim: Claim, response: HttpResponse | None) -> None:
        stored = _to_store(response)
        try:
            if stored is None:
                self.store.release(claim)
            else:
                self.store.finish(claim, stored)
        except Exception as error:  # noqa: BLE001 - the request was carried out
            # It has not failed because its answer could not be stored: the lease of the claim runs out.
            get_logger().error("idempotency key not settled", extra={"failure": failure(error)})

    def _digest(self, request: HttpRequest, canonical_body: bytes) -> str:
        query = repr(sorted((name, list(values)) for name, values in request.query.items())).encode()
        return self.signer.digest("idempotency", query + b"\x00" + canonical_body).hex()


def _is_final(error: HeadgateError) -> bool:
    temporary = isinstance(error, _TEMPORARY_ERRORS) or error.code in _TEMPORARY_CODES
    return not temporary and (status_of(error) < 500 or isinstance(error, errors.Rejected))


def _to_store(response: HttpResponse | None) -> KeptAnswer | None:
    # A session must not be sent twice.
    if response is None or "Set-Cookie" in response.headers:
        return None
    headers = tuple((name, value) for name, value in response.headers.items() if isinstance(value, str))
    return KeptAnswer(status=response.status, headers=headers, body=response.body)
