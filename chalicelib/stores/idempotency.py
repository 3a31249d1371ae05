"""What was answered to requests that carried an `Idempotency-Key`, sealed, for 24 hours."""

import json
from datetime import datetime, timedelta
from typing import Any

from pynamodb.attributes import TTLAttribute, UnicodeAttribute, UTCDateTimeAttribute
from pynamodb.exceptions import DeleteError, DoesNotExist, PutError, UpdateError

from chalicelib.domain.idempotency import KEPT_FOR_SECONDS, Claim, KeptAnswer, TextSealer
from chalicelib.errors import Conflict, RequestInProgress
from chalicelib.kit.ids import new_token
from chalicelib.kit.masking import Secret
from chalicelib.stores.documents import store_errors
from chalicelib.stores.tables import Table, failure_code, meta


class IdempotencyRow(Table):
    """One key. `token` names the claim that may write the answer; `answer` is sealed, since it may hold a token."""

    Meta = meta("idempotency")  # type: ignore[assignment]
    id = UnicodeAttribute(hash_key=True)
    token = UnicodeAttribute()
    body_hash = UnicodeAttribute()
    lease_until = UTCDateTimeAttribute()
    answer = UnicodeAttribute(null=True)
    expires_at = TTLAttribute()


class IdempotencyStore:
    """Implements `domain.idempotency.IdempotencyRows`."""

    def __init__(self, sealer: TextSealer) -> None:
        self._sealer = sealer

    def claim(self, key: str, body_hash: str, now: datetime, lease_seconds: int) -> Claim | KeptAnswer:
        """The right to run, or the answer that was given before."""
        row = IdempotencyRow(
            key,
            token=new_token(),
            body_hash=body_hash,
            lease_until=now + timedelta(seconds=lease_seconds),
            expires_at=now + timedelta(seconds=KEPT_FOR_SECONDS),
        )
        free = (
            IdempotencyRow.id.does_not_exist()
            | (IdempotencyRow.expires_at <= now)
            | (
                IdempotencyRow.answer.does_not_exist()
                & (IdempotencyRow.lease_until <= now)
                & (IdempotencyRow.body_hash == body_hash)
            )
        )
        with store_errors():
            try:
                row.save(condition=free)
                return Claim(key=key, token=row.token)
            except PutError as error:
                if failure_code(error) != "ConditionalCheckFailedException":
                    raise
                return self._held(key, row, now)

    def finish(self, claim: Claim, answer: KeptAnswer, now: datetime) -> None:
        """Keep the answer, if the claim is still ours."""
        text = json.dumps([answer.status, answer.headers, answer.body])
        sealed = self._sealer.seal(claim.key, Secret(text))
        with store_errors():
            try:
                IdempotencyRow(claim.key).update(
                    [IdempotencyRow.answer.set(sealed)], condition=IdempotencyRow.token == claim.token
                )
            except UpdateError as error:
                if failure_code(error) != "ConditionalCheckFailedException":
                    raise

    def release(self, claim: Claim) -> None:
        """Forget the claim, if it is still ours."""
        with store_errors():
            row = IdempotencyRow(claim.key)
            try:
                row.delete(condition=IdempotencyRow.token == claim.token)
            except DeleteError as error:
                if failure_code(error) != "ConditionalCheckFailedException":
                    raise

    def _held(self, key: str, attempt: IdempotencyRow, now: datetime) -> Claim | KeptAnswer:
        try:
            row: Any = IdempotencyRow.get(key, consistent_read=True)
        except DoesNotExist:
            return self.claim(key, attempt.body_hash, now, int((attempt.lease_until - now).total_seconds()))
        if row.token == attempt.token:
            return Claim(key=key, token=row.token)  # our own write, whose reply was lost
        if row.body_hash != attempt.body_hash:
            raise Conflict("This key came with another body before.", code="IDEMPOTENCY_KEY_REUSED")
        if row.answer is None:
            left = max(1, int((row.lease_until - now).total_seconds()))
            raise RequestInProgress("The first request with this key still runs.", retry_after_seconds=left)
        status, headers, body = json.loads(self._sealer.open(key, row.answer).reveal())
        return KeptAnswer(status=status, headers=tuple((name, value) for name, value in headers), body=body)
