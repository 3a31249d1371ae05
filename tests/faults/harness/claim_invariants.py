"""What must be true of references and claims: counted again from the stored rows."""

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any, Protocol

from chalicelib.domain.accounts.email import email_key
from chalicelib.domain.names import unique_key
from tests.faults.harness.incident_invariants import incident_key
from tests.support.apps.in_process_app import InProcessApp

Json = dict[str, Any]
NAMED = (
    *("connection", "source", "destination", "stream_cluster", "connect_cluster", "pipeline", "delivery"),
    *("notification_channel", "alert_rule"),
)
ENDED = {"COMPLETED": "success", "FAILED": "failed"}
REFERS_TO = {
    "connect_cluster": {"stream_cluster_id": "stream_cluster"},
    "alert_rule": {"channel_ids": "notification_channel"},
    "pipeline": {"source_id": "source", "stream_cluster_id": "stream_cluster", "connect_cluster_id": "connect_cluster"},
    "delivery": {
        "pipeline_id": "pipeline",
        "destination_id": "destination",
        "connect_cluster_id": "connect_cluster",
    },
}


class Stored(Protocol):
    """What is needed of all that is stored."""

    app: InProcessApp
    rows: Mapping[str, Mapping[str, Json]]
    references: Mapping[str, Mapping[str, int]]
    users: list[Json]
    claims: Mapping[str, Json]

    @property
    def active_incidents(self) -> list[Json]: ...


def references_are_counted(state: Stored) -> Iterator[str]:
    """Each row's stored count of references is the number of rows that refer to it."""
    recount: Counter[tuple[str, str]] = Counter()
    for noun, fields in REFERS_TO.items():
        for row in state.rows[noun].values():
            for field, target in fields.items():
                named = row[field] if isinstance(row[field], list) else [row[field]]
                recount.update((target, one) for one in named)
    for noun in NAMED:
        for row_id, count in state.references[noun].items():
            if count != recount[noun, row_id]:
                yield f"a {noun} counts {count}, and there are {recount[noun, row_id]}"


def connections_and_their_users_agree(state: Stored) -> Iterator[str]:
    """A connection names exactly what points at it, by its present name, and that has its address and credentials."""
    named = {
        (connection["id"], user["type"], user["id"]): user["name"]
        for connection in state.rows["connection"].values()
        for user in connection["used_by"]
    }
    users = [(noun, row) for noun in ("source", "destination") for row in state.rows[noun].values()]
    pointing = {(row["connection_id"], noun, row["id"]): row["name"] for noun, row in users if row["connection_id"]}
    yield from _difference("users", named, pointing)
    for noun, row in users:
        connection = state.rows["connection"].get(row["connection_id"])
        if connection and any(row[field] != connection[field] for field in ("address", "credentials")):
            yield f"a {noun} has another address or other credentials than its connection"


def claims_have_the_right_holders(state: Stored) -> Iterator[str]:
    """Names, slots, publications and target tables are claimed by the resources that use them, and by no others."""
    expected = {
        f"name/{noun}/{unique_key(row['name'])}": row["id"] for noun in NAMED for row in state.rows[noun].values()
    }
    expected |= {f"email/{email_key(user['email'])}": user["id"] for user in state.users}
    expected |= {key: row["id"] for row in state.rows["pipeline"].values() for key in row["claims"]}
    expected |= {
        f"job/{job['kind']}/{job['resource_id']}": job["id"]
        for job in state.rows["job"].values()
        if job["status"] not in ENDED
    }
    current = [*state.active_incidents, *(one for one in state.rows["incident"].values() if one.get("dismissed"))]
    expected |= {f"incident/{incident_key(one)}": one["id"] for one in current}
    held = {key: row["holder"] for key, row in state.claims.items() if row.get("holder")}
    holders = {key: holder for key, holder in held.items() if not key.startswith("installation/")}
    yield from _difference("claims", holders, expected)
    tables = {
        (*_schema_of(key), table): holder
        for key, row in state.claims.items()
        for table, holder in json.loads(row.get("targets") or "{}").items()
    }
    yield from _difference("targets", tables, dict(_targets(state)))


def _schema_of(key: str) -> list[Any]:
    """Host, port, database and schema of a row of target tables."""
    identity: list[Any] = json.loads(key.removeprefix("target/"))
    return identity[:4]


def _targets(state: Stored) -> Iterator[tuple[tuple[object, ...], str]]:
    for row in state.rows["delivery"].values():
        address = state.app.services.destinations.get(row["destination_id"]).address
        for mapping in row["writing"]["mappings"]:
            yield (*address.identity, mapping["schema_name"], mapping["table_name"]), row["id"]


def _difference(what: str, holders: Mapping[Any, str], expected: Mapping[Any, str]) -> Iterator[str]:
    for key in holders.keys() | expected.keys():
        if holders.get(key) != expected.get(key):
            yield f"{what} {key}: holder {holders.get(key)}, expected {expected.get(key)}"
