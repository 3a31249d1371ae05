"""Puts and deletes many rows of one table, at the rate that DynamoDB allows.

One partition key takes 1,000 write units a second (Developer Guide, "Best practices for designing and using partition
keys"). Beyond that BatchWriteItem answers with `UnprocessedItems`, or refuses the whole call.
"""

import time
from collections import deque
from collections.abc import Callable, Iterable
from typing import Any

from botocore.exceptions import ClientError
from pynamodb.constants import BATCH_WRITE_ITEM
from pynamodb.models import Model

from chalicelib.domain.plans.dry_run import current_plan
from chalicelib.errors import StoreBusy
from chalicelib.kit.clock import Deadline
from chalicelib.kit.randomness import jitter
from chalicelib.stores.tables import THROTTLED, connection, failure_code

WRITES_PER_CALL = 25
"""A limit of BatchWriteItem."""
_FIRST_PAUSE_SECONDS, _LONGEST_PAUSE_SECONDS = 0.1, 2.0

Write = dict[str, Any]
"""One element of BatchWriteItem's list for a table."""


def put(row: Model) -> Write:
    return {"PutRequest": {"Item": row.serialize()}}


def delete(row: Model) -> Write:
    keys = {column.attr_name for column in row.get_attributes().values() if column.is_hash_key or column.is_range_key}
    values = row.serialize(null_check=False)
    return {"DeleteRequest": {"Key": {name: values[name] for name in keys}}}


def write_rows(
    table: type[Model], writes: Iterable[Write], deadline: Deadline, *, sleep: Callable[[float], None] = time.sleep
) -> None:
    """Send all writes, at most one for each key. Unprocessed writes are sent again after growing, random pauses.

    The writes are no transaction: after an error any of them may have been made. Safe to repeat.
    In a dry run nothing is written. Raises StoreBusy when the deadline passes first, and the client's own errors.
    """
    if current_plan() is not None:
        return
    waiting, attempt = deque(writes), 0
    while waiting:
        batch = [waiting.popleft() for _ in range(min(WRITES_PER_CALL, len(waiting)))]
        unprocessed = _send(table, batch)
        waiting.extendleft(reversed(unprocessed))
        attempt = attempt + 1 if unprocessed else 0
        pause = min(_LONGEST_PAUSE_SECONDS, jitter(_FIRST_PAUSE_SECONDS, attempt)) if unprocessed else 0.0
        if waiting and deadline.remaining() <= pause:
            raise StoreBusy("The store did not take all rows in time. Try again in a minute.")
        sleep(pause)


def _send(table: type[Model], batch: list[Write]) -> list[Write]:
    """The writes that were not processed."""
    name = table.Meta.table_name
    try:
        answer = connection().dispatch(BATCH_WRITE_ITEM, {"RequestItems": {name: batch}})
    except ClientError as error:
        if failure_code(error) not in THROTTLED:
            raise
        return batch
    unprocessed: list[Write] = (answer.get("UnprocessedItems") or {}).get(name, [])
    return unprocessed
