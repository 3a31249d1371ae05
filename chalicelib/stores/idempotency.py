"""Claims of idempotency keys, and the answers to their requests: sealed, for 24 hours."""

import json
from contextlib import suppress
from datetime import datetime
from typing import Any

from pynamodb.attributes import TTLAttribute, UnicodeAttribute, UTCDateTimeAttribute
from pynamodb.exceptions import DoesNotExist

from chalicelib.domain.idempotency import KEPT_FOR, LEASE, Claim, KeptAnswer, TextSealer
from chalicelib.errors import Conflict, RequestInProgress, WriteConflict
from chalicelib.kit.ids import new_id
from chalicelib.kit.masking import Secret
from chalicelib.stores.tables import Table, meta, store_errors
from chalicelib.stores.transaction import Transaction


class IdempotencyRow(Table):
    """One key. `write_id` is the token of the claim that may write the answer."""

    Meta = meta("idempotency")  # type: ignore[assignment]
    id = UnicodeAttribute(hash_key=True)
    write_id = UnicodeAttribute()
    body_hash = UnicodeAttribute()
    lease_until = UTCDateTimeAttribute()
    answer = UnicodeAttribute(null=True)
    expires_at = TTLAttribute()


class IdempotencyKeys:
    """Implements `domain.idempotency.IdempotencyStore`."""

    def __init__(self, sealer: TextSealer) -> None:
        self._sealer = sealer

    def claim(self, key: str, body_hash: str, now: datetime) -> Claim | KeptAnswer:
        # The rule of `domain.lease.is_free` as a condition: a first request has no row to read before, and one write
        # has to decide between all requests with the key.
        expired = IdempotencyRow.answer.does_not_exist() & (IdempotencyRow.lease_until <= now)
        free = (
            IdempotencyRow.id.does_not_exist()
            | (IdempotencyRow.expires_at <= now)
            | (expired & (IdempotencyRow.body_hash == body_hash))
        )
        token, until, expires_at = new_id(), now + LEASE, now + KEPT_FOR
        row = IdempotencyRow(key, write_id=token, body_hash=body_hash, lease_until=until, expires_at=expires_at)
        try:
            with Transaction(write_id=token) as transaction:
                transaction.put(row, condition=free, label="idempotency.claimed")
        except WriteConflict:
            return self._earlier_answer(key, body_hash, now)
        return Claim(key=key, token=token)

    def finish(self, claim: Claim, answer: KeptAnswer) -> None:
        text = json.dumps([answer.status, answer.headers, answer.body])
        sealed = IdempotencyRow.answer.set(self._sealer.seal(claim.key, Secret(text)))
        still_ours = IdempotencyRow.write_id == claim.token
        with suppress(WriteConflict), Transaction() as transaction:
            transaction.update(IdempotencyRow(claim.key), [sealed], condition=still_ours, label="idempotency.lost")

    def release(self, claim: Claim) -> None:
        still_ours = IdempotencyRow.write_id == claim.token
        with suppress(WriteConflict), Transaction() as transaction:
            transaction.delete(IdempotencyRow(claim.key), condition=still_ours, label="idempotency.lost")

    def _earlier_answer(self, key: str, body_hash: str, now: datetime) -> Claim | KeptAnswer:
        """The answer to the request that has the key. Raises RequestInProgress while there is none."""
        with store_errors():
            try:
                row: Any = IdempotencyRow.get(key, consistent_read=True)
            except DoesNotExist:  # the other request has released it meanwhile
                return self.claim(key, body_hash, now)
        if row.body_hash != body_hash:
            raise Conflict(
                "This Idempotency-Key came with another body before. Use a new key for another request.",
                code="IDEMPOTENCY_KEY_REUSED",
            )
        if row.answer is None:
            seconds = max(1, int((row.lease_until - now).total_seconds()))
            raise RequestInProgress(
                "The first request with this Idempotency-Key still runs. Repeat this in a moment.",
                retry_after_seconds=seconds,
            )
        status, headers, body = json.loads(self._sealer.open(key, row.answer).reveal())
        return KeptAnswer(status=status, headers=tuple((name, value) for name, value in headers), body=body)
