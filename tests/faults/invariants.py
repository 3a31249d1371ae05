"""What must be true of tables and connectors whenever no request is running: everything is counted again."""

import json
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from boto3.dynamodb.types import Binary

from chalicelib.domain.connector_config import config_hash
from chalicelib.domain.names import OWNER_KEY, parse_connector_name
from chalicelib.stores.all_tables import ALL_TABLES
from tests.faults.harness.claim_invariants import (
    ENDED,
    NAMED,
    claims_have_the_right_holders,
    connections_and_their_users_agree,
    references_are_counted,
)
from tests.faults.harness.incident_invariants import (
    each_fault_has_one_active_incident_at_most,
    each_move_of_an_incident_is_audited_once,
    incidents_are_about_what_exists,
    incidents_end_with_what_they_are_about,
)
from tests.support.apps.in_process_app import InProcessApp
from tests.support.hostile.audit_tampering import chain_faults

Json = dict[str, Any]
REGISTERED = ("connection", "source", "destination", "stream_cluster", "connect_cluster", "notification_channel")
SETTLED = {"SUCCEEDED": "success", "FAILED": "failed"}
VERSIONED = (
    "create",
    "update",
    "deploy",
    "pause",
    "resume",
    "restart",
    "restart_task",
    "update_config",
    "update_mappings",
)
"""What a version counts, each success once. A re-creation does not: it changes nothing that people set."""

CHANGES_OF_USERS = frozenset(
    f"user.{verb}"
    for verb in (
        *("install", "invite", "accept_invite", "change_role", "disable", "enable", "change_password"),
        *("start_second_factor", "add_second_factor", "remove_second_factor"),
    )
) | {"session.end_others"}
SECRETS = (
    *("source password", "destination password", "connection password"),
    *("planted-database-password", "planted-connect-password"),
    "services/planted",
)
RUNS = {"RUNNING": ("STARTED",), "PAUSED": ("PAUSED", "STOPPED")}
"""Desired state -> the target states in Connect that mean it. A paused one that was created again is STOPPED."""
TABLE_OF = {
    "connection": "connections",
    "source": "sources",
    "destination": "destinations",
    "stream_cluster": "stream-clusters",
    "connect_cluster": "connect-clusters",
    "pipeline": "pipelines",
    "delivery": "deliveries",
    "notification_channel": "notification-channels",
    "alert_rule": "alert-rules",
    "operation": "operations",
    "job": "jobs",
    "incident": "incidents",
}
CLAIMS = ("claims", "account-claims")


class StoredState:
    """All rows by noun and id, and all connectors, as they are now."""

    def __init__(self, app: InProcessApp) -> None:
        self.app = app
        stored = {noun: app.tables.rows(table) for noun, table in TABLE_OF.items()}
        self.rows = {noun: {row["id"]: json.loads(row["body"]) for row in rows} for noun, rows in stored.items()}
        self.references = {noun: {row["id"]: int(row.get("references", 0)) for row in stored[noun]} for noun in stored}
        self.audit = [json.loads(row["body"]) for row in app.tables.rows("audit")]
        self.users = [json.loads(row["body"]) for row in app.tables.rows("users")]
        self.claims = {row["id"]: row for table in CLAIMS for row in app.tables.rows(table)}
        self.connectors = {name: app.connect.connector(name) for name in app.connect.names()}

    @property
    def active_incidents(self) -> list[Json]:
        """Those that are not resolved."""
        return [one for one in self.rows["incident"].values() if one["status"] != "RESOLVED"]

    @property
    def with_connectors(self) -> Iterator[tuple[str, Json]]:
        """Every pipeline and delivery with its noun."""
        for noun in ("pipeline", "delivery"):
            for row in self.rows[noun].values():
                yield noun, row


def violations(app: InProcessApp) -> list[str]:
    """Every violated invariant; empty when there is none."""
    state = StoredState(app)
    return [f"{rule.__name__}: {wrong}" for rule in RULES for wrong in rule(state)]


def at_any_time(app: InProcessApp) -> list[str]:
    """Every violated invariant of those that hold also between the steps of an operation."""
    state = StoredState(app)
    return [f"{rule.__name__}: {wrong}" for rule in ALWAYS for wrong in rule(state)]


def nothing_is_open(state: StoredState) -> Iterator[str]:
    """No operation is open, and no row says that one is."""
    for one in state.rows["operation"].values():
        if one["step"] not in SETTLED:
            yield f"{one['kind']} of {one['resource_type']} is {one['step']}"
    for noun, row in state.with_connectors:
        if row["open_operation"]:
            yield f"{noun} still has {row['open_operation']['kind']}"
    for job in state.rows["job"].values():
        if job["status"] not in ENDED:
            yield f"a job is {job['status']}"


def each_resource_has_one_open_operation_at_most(state: StoredState) -> Iterator[str]:
    """Of all operations of a resource, one may be open, and its row names it."""
    opened = [one for one in state.rows["operation"].values() if one["step"] not in SETTLED]
    for resource_id, count in Counter(one["resource_id"] for one in opened).items():
        if count > 1:
            yield f"{count} open operations of {resource_id}"
    for one in opened:
        row = state.rows[one["resource_type"]].get(one["resource_id"])
        if row is not None and (row["open_operation"] or {}).get("id") != one["id"]:
            yield f"an open {one['kind']} that its {one['resource_type']} does not name"


def no_secret_is_readable(state: StoredState) -> Iterator[str]:
    """No row, and no config in Connect, has a secret as plain text."""
    for table in ALL_TABLES:
        name = table.Meta.table_name.removeprefix("headgate-")
        for row in state.app.tables.rows(name):
            text = " ".join(_text(value) for value in row.values())
            yield from (f"a row of {name} has the {secret}" for secret in SECRETS if secret in text)
    for name, one in state.connectors.items():
        text = json.dumps(one.config)
        yield from (f"the config of {name} has the {secret}" for secret in SECRETS if secret in text)


def each_change_is_audited_once(state: StoredState) -> Iterator[str]:
    """Of every resource that exists, its creation and each version; of every other one, its deletion."""
    changed = Counter(
        (one["resource_type"], one["resource_id"], one["action"].partition(".")[2])
        for one in state.audit
        if one["outcome"] == "success"
    )
    for noun in NAMED:
        for row_id, row in state.rows[noun].items():
            versions = sum(changed[noun, row_id, verb] for verb in VERSIONED)
            if versions != row["version"]:
                yield f"a {noun} has version {row['version']}, and {versions} changes were audited"
            if removed := changed[noun, row_id, "delete"] + changed[noun, row_id, "forget"]:
                yield f"a {noun} exists, and {removed} deletions were audited"
    for (noun, row_id, verb), count in changed.items():
        if verb in ("create", "delete", "forget") and count > 1:
            yield f"{noun}.{verb} was audited {count} times"
        is_gone = verb == "create" and noun in NAMED and row_id not in state.rows[noun]
        if is_gone and changed[noun, row_id, "delete"] + changed[noun, row_id, "forget"] != 1:
            yield f"a {noun} is gone, and its deletion was not audited"


def each_job_is_audited_once(state: StoredState) -> Iterator[str]:
    """Each job has one `requested` record, and one of its end."""
    recorded = Counter(
        (one["after"]["job_id"], one["outcome"]) for one in state.audit if "job_id" in (one.get("after") or {})
    )
    expected: Counter[tuple[str, str]] = Counter()
    for job in state.rows["job"].values():
        expected[job["id"], "requested"] += 1
        expected[job["id"], ENDED.get(job["status"], "open")] += 1
    for key in recorded.keys() | expected.keys():
        if recorded[key] != expected[key]:
            yield f"{key[1]} of a job: {recorded[key]} records, {expected[key]} jobs"


def each_change_of_a_user_is_audited_once(state: StoredState) -> Iterator[str]:
    """Every version of a user has one record."""
    changed = Counter(
        one["resource_id"] for one in state.audit if one["outcome"] == "success" and one["action"] in CHANGES_OF_USERS
    )
    for user in state.users:
        if user["version"] != changed[user["id"]]:
            yield f"a user has version {user['version']}, and {changed[user['id']]} changes were audited"


def each_session_is_audited_once(state: StoredState) -> Iterator[str]:
    """As many sessions exist as were begun and not ended. One that is ended twice at the same moment is recorded
    twice.
    """
    actions = Counter(one["action"] for one in state.audit if one["outcome"] == "success")
    sessions, ended = len(state.app.tables.rows("sessions")), actions["session.logout"] + actions["session.end"]
    if not actions["session.login"] - ended <= sessions <= actions["session.login"]:
        yield f"{sessions} sessions, {actions['session.login']} logins, {ended} ended"


def the_chain_of_the_audit_trail_is_whole(state: StoredState) -> Iterator[str]:
    """At any time, too: blocks and their anchor are one transaction."""
    yield from chain_faults(state.app.tables)


def nothing_is_left_of_what_was_deleted(state: StoredState) -> Iterator[str]:
    """Credentials belong to something that exists, and are those that it lists.

    Discovered tables may stay: the next discovery, or a second deletion, removes what a slow store left behind.
    """
    factors = {user["second_factor"]["id"]: user["second_factor"] for user in state.users if user["second_factor"]}
    owners = {**state.rows, "second_factor": factors}
    for row in state.app.tables.rows("secrets"):
        sealed = json.loads(row["body"])
        if sealed["resource_type"] == "installation":
            continue
        owner = owners.get(sealed["resource_type"], {}).get(sealed["resource_id"])
        if owner is None:
            yield f"credentials of a {sealed['resource_type']} that does not exist"
        elif owner.get("connection_id"):
            yield f"own credentials of a {sealed['resource_type']} that uses a connection"
        elif owner["credentials"]["fields"].keys() != sealed["sealed"].keys():
            yield f"a {sealed['resource_type']} lists other credentials than those that are stored"
    for noun in REGISTERED:
        stored = {json.loads(row["body"])["resource_id"] for row in state.app.tables.rows("secrets")}
        for row_id, row in state.rows[noun].items():
            if row["credentials"]["fields"] and row_id not in stored and not row.get("connection_id"):
                yield f"the credentials of a {noun} are missing"


_ZLIB = b"\x78"
"""How zlib begins (RFC 1950, section 2.2)."""


def _text(value: object) -> str:
    """The text of a column; of a compressed one, what it was before. The numbers of a history are no text."""
    if not isinstance(value, (bytes, Binary)):
        return str(value)
    content = bytes(value)
    return zlib.decompress(content).decode() if content.startswith(_ZLIB) else content.decode("latin-1")


def each_connector_is_desired(state: StoredState) -> Iterator[str]:
    """A connector with our marker belongs to a deployed resource, and each resource has at most one."""
    owners = Counter(one.config.get(OWNER_KEY) for one in state.connectors.values() if OWNER_KEY in one.config)
    yield from (f"{count} connectors of {owner}" for owner, count in owners.items() if count > 1)
    desired = {_connector(noun, row) for noun, row in state.with_connectors if row["desired_state"] != "DRAFT"}
    for name, one in state.connectors.items():
        if parse_connector_name(name) and OWNER_KEY in one.config and name not in desired:
            yield f"{name} is not desired"


def each_desired_connector_exists(state: StoredState) -> Iterator[str]:
    """Each deployed resource has a connector in the desired state with the config of its row, unless its creation waits
    for an Admin. No delivery is a draft.

    A config may be older than a source or destination that was changed since.
    """
    services = state.app.services
    owners: dict[str, Any] = {"pipeline": services.pipeline_connector, "delivery": services.delivery_connector}
    for noun, row in state.with_connectors:
        if row["desired_state"] == "DRAFT":
            if noun == "delivery":
                yield "a delivery without connector is stored"
            continue
        connector = state.connectors.get(_connector(noun, row))
        if connector is None:
            waiting = services.connect_clusters.get(row["connect_cluster_id"]).pending_creations
            if waiting is None or _connector(noun, row) not in waiting.names:
                yield f"the connector of a {noun} is missing"
            continue
        if connector.target not in RUNS[row["desired_state"]]:
            yield f"a {noun} is {connector.target} and should be {row['desired_state']}"
        owner = owners[noun]
        resource = owner.store.get(row["id"])
        deps = owner.load_dependencies(resource)
        config = owner.config(resource, deps).config
        system = deps.source if noun == "pipeline" else deps.destination
        if config_hash(connector.config) != resource.config_hash:
            yield f"the connector of a {noun} has another config than the one whose hash is stored"
        if system.version == 1 and config_hash(config) != resource.config_hash:
            yield f"the connector of a {noun} has another config than the stored resource results in"


def each_operation_is_audited_once(state: StoredState) -> Iterator[str]:
    """Each operation has one `requested` record, and one `success` or `failed` record when it is settled."""
    recorded = Counter((one["resource_id"], one["action"], one["outcome"]) for one in state.audit)
    expected: Counter[tuple[str, str, str]] = Counter()
    for one in state.rows["operation"].values():
        action = f"{one['resource_type']}.{one['kind']}"
        expected[one["resource_id"], action, "requested"] += 1
        expected[one["resource_id"], action, SETTLED.get(one["step"], "open")] += 1
    actions = {action for _, action, _ in expected}
    found = Counter({key: count for key, count in recorded.items() if key[1] in actions})
    for key in found.keys() | expected.keys():
        if found[key] != expected[key]:
            yield f"{key[1:]}: {found[key]} records, {expected[key]} operations"


def _connector(noun: str, row: Json) -> str:
    return f"headgate-{'source' if noun == 'pipeline' else 'sink'}-{row['id'].replace('-', '')}"


ALWAYS: tuple[Callable[[StoredState], Iterable[str]], ...] = (
    each_resource_has_one_open_operation_at_most,
    each_fault_has_one_active_incident_at_most,
    connections_and_their_users_agree,
    no_secret_is_readable,
    the_chain_of_the_audit_trail_is_whole,
)
RULES: tuple[Callable[[StoredState], Iterable[str]], ...] = (
    *ALWAYS,
    nothing_is_open,
    each_connector_is_desired,
    each_desired_connector_exists,
    each_operation_is_audited_once,
    references_are_counted,
    claims_have_the_right_holders,
    each_change_is_audited_once,
    each_job_is_audited_once,
    each_change_of_a_user_is_audited_once,
    each_session_is_audited_once,
    each_move_of_an_incident_is_audited_once,
    incidents_are_about_what_exists,
    incidents_end_with_what_they_are_about,
    nothing_is_left_of_what_was_deleted,
)
