"""The groups of operations in the order of work, and what a reader has to know about all of them."""

from collections.abc import Mapping

GROUPS: Mapping[str, str] = {
    "Sign-in": "Sessions, passwords, second factors, and tokens for programs.",
    "Stream clusters": "The Kafka brokers that changes go through. Register one first.",
    "Connect clusters": "The Kafka Connect workers that run the connectors. Register one for the brokers.",
    "Connections": "Addresses with credentials, for sources and destinations to share. You can do without them.",
    "Sources": "Databases to capture from: register, test, discover the tables, check that capture will work.",
    "Destinations": "Databases and object stores to deliver to: register and test.",
    "Pipelines": "Captures of the tables of a source: preview, create a draft, deploy, pause, resume, restart.",
    "Deliveries": "Sinks that write topics of a pipeline to a destination: preview, deploy, pause, resume, restart.",
    "Monitoring": "What is wrong now, and who hears of it: the overview, incidents, alerts, alert rules, channels.",
    "Audit": "Who did what, and the proof that no record was changed.",
    "Users": "People, their roles, and invites.",
    "Topics": "The topics of a stream cluster.",
    "Consumer groups": "The consumer groups of a stream cluster, with their lag.",
    "Connectors": "All connectors of a Connect cluster, also those that Headgate has not made. It only reads them.",
    "Schemas": "The versions of the schemas of tables, and what has changed between them.",
    "System": "Health, readiness, metrics, and the keys of stored secrets.",
}
"""What each group is for."""

INTRODUCTION = """\
Headgate registers databases and object stores, connects them through Kafka and Kafka Connect, runs the connectors, \
watches what really happens, and tells people when something breaks.

- **Sign in** with `POST /api/v1/auth/login`, which sets a cookie; programs send a token as `Authorization: Bearer`. \
A change with a cookie needs the header `X-Correlation-ID`.
- **Times** are RFC 3339 in UTC. **Ids** are lower-case UUIDs. Null means: not known, or not there.
- **Lists** have at most 500 entries. The header `X-Next-Cursor` of an answer is the `cursor` of the next page.
- **Errors** are `{"error": {"code", "message", "details"}}`. Compare the code; read the message. The statuses of each \
operation name the codes that it can give.
- **Repeating** a `POST` is safe with the header `Idempotency-Key`. `If-Match` with the version makes a change \
conditional.
- **Operations on connectors** answer 202 with `open_operation` when Kafka Connect has not confirmed them yet. \
Headgate finishes them by itself; the state of the resource shows how.
"""
