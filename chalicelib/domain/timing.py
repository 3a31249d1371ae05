"""Times that others depend on. One that stands alone lies where it is used.

A request: REQUEST < API_FUNCTION (API Gateway waits no longer) < the lease of its idempotency key.
A worker: WORKER < FUNCTION < the lease of its job, and six times FUNCTION until its message is received again.
"""

from datetime import timedelta

MINUTE = timedelta(minutes=1)
"""The dispatcher runs once a minute: sources and destinations are observed so often, lost messages are sent again."""

TICK = timedelta(seconds=10)
"""Each Connect cluster is observed so often. SQS delivers a message of the dispatcher up to 15 minutes later."""

TICKS_PER_MINUTE = MINUTE // TICK

ONCE_A_MINUTE = MINUTE - TICK / 2
"""What is at least so old is due in a tick: it happens once a minute, although ticks are never quite on time."""

OBSERVED_FOR = 18 * TICK
"""So long an observation of a Connect cluster counts: three minutes. While its workers do not answer, looks are up to a
minute apart.
"""

LOOKED_AT_FOR = 5 * MINUTE
"""So long a look at a source or a destination counts: there is one each minute, and a slow one may be late."""

CLOCKS_APART = TICK / 2
"""By how much the clocks of two machines may differ."""

REQUEST = timedelta(seconds=20)
"""A request of the API has its answer ready after this time, or gives up."""

API_FUNCTION = timedelta(seconds=29)
FUNCTION = timedelta(seconds=60)
"""After these times AWS Lambda ends a function: that of the API, and each of the others."""

CONTENTION = (API_FUNCTION - REQUEST) * 2 / 3
"""So long a transaction is sent again that only meets others: one at the end of a request ends before its function.
"""

WORKER = FUNCTION - timedelta(seconds=10)
"""A function begins no more work after this time."""

OPERATION_LEASE = REQUEST + timedelta(seconds=10)
"""So long nobody takes over an operation whose request may still be carrying it out."""
