"""What must be true of tables and connectors whenever nothing is under way: everything is counted anew."""

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from chalicelib.domain.connector_config import config_hash
from chalicelib.domain.names import OWNER_KEY, parse_connector_name, unique_key
from chalicelib.stores.claims import target_key
from tests.support.in_process_app import InProcessApp

Json = dict[str, Any]
NAMED = ("source", "destination", "stream_cluster", "connect_cluster", "pipeline", "delivery")
SETTLED = {"SUCCEEDED": "success", "FAILED": "failed"}
RUNS = {"RUNNING": ("STARTED",), "PAUSED": ("PAUSED", "STOPPED")}
"""Desired state -> the orders of Connect's that mean it. A paused connector that had to be made anew stays STOPPED."""
TABLE_OF = {
    "source": "sources",
    "destination": "destinations",
    "stream_cluster": "stream-clusters",
    "connect_cluster": "connect-clusters",
    "pipeline": "pipelines",
    "delivery": "deliveries",
    "operation": "operations",
}
REFERS_TO = {
    "connect_cluster": {"stream_cluster_id": "stream_cluster"},
    "pipeline": {"source_id": "source", "stream_cluster_id": "stream_cluster", "connect_cluster_id": "connect_cluster"},
    "delivery": {
        "pipeline_id": "pipeline",
        "destination_id": "destination",
        "connect_cluster_id": "connect_cluster",
    },
}


class World:
    """All rows by noun and id, and all connectors, as they are now."""

    def __init__(self, app: InProcessApp) -> None:
        self.app = app
        stored = {noun: app.tables.rows(table) for noun, table in TABLE_OF.items()}
        self.rows = {noun: {row["id"]: json.loads(row["body"]) for row in rows} for noun, rows in stored.items()}
        self.references = {noun: {row["id"]: int(row.get("references", 0)) for row in stored[noun]} for noun in stored}
        self.audit = [json.loads(row["body"]) for row in app.tables.rows("audit")]
        self.claims = {row["id"]: row for row in app.tables.rows("claims")}
        self.connectors = {name: app.connect.connector(name) for name in app.connect.names()}

    @property
    def managed(self) -> Iterator[tuple[str, Json]]:
        """Every pipeline and delivery with its noun."""
        for noun in ("pipeline", "delivery"):
            for row in self.rows[noun].values():
                yield noun, row


def violations(app: InProcessApp) -> list[str]:
    """Everything that is not as it must be; empty when all is well."""
    world = World(app)
    return [f"{rule.__name__}: {wrong}" for rule in RULES for wrong in rule(world)]


def nothing_is_open(world: World) -> Iterator[str]:
    """No operation is open, and no row says that one is."""
    for one in world.rows["operation"].values():
        if one["step"] not in SETTLED:
            yield f"{one['kind']} of {one['resource_type']} is {one['step']}"
    for noun, row in world.managed:
        if row["open_operation"]:
            yield f"{noun} still says {row['open_operation']['kind']}"


def each_connector_is_wanted(world: World) -> Iterator[str]:
    """A connector with our marker belongs to a row that wants it, and no two belong to one."""
    owners = Counter(one.config.get(OWNER_KEY) for one in world.connectors.values() if OWNER_KEY in one.config)
    yield from (f"{count} connectors of {owner}" for owner, count in owners.items() if count > 1)
    wanted = {_connector(noun, row) for noun, row in world.managed if row["desired_state"] != "DRAFT"}
    for name, one in world.connectors.items():
        if parse_connector_name(name) and OWNER_KEY in one.config and name not in wanted:
            yield f"nobody wants {name}"


def each_wanted_connector_is_there(world: World) -> Iterator[str]:
    """What is wanted exists, runs as desired, and has the config that its row means. A delivery is always wanted.

    A config may be older than its source or destination, once those were changed.
    """
    services = world.app.services
    owners: dict[str, Any] = {"pipeline": services.pipeline_connector, "delivery": services.delivery_connector}
    for noun, row in world.managed:
        if row["desired_state"] == "DRAFT":
            if noun == "delivery":
                yield "a delivery without connector is stored"
            continue
        connector = world.connectors.get(_connector(noun, row))
        if connector is None:
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
            yield f"the connector of a {noun} has another config than its row says that it was given"
        if system.version == 1 and config_hash(config) != resource.config_hash:
            yield f"the connector of a {noun} has another config than its row means"


def each_operation_is_audited_once(world: World) -> Iterator[str]:
    """One `requested` for each operation, and one `success` or `failed`, as it was settled."""
    said = Counter((one["resource_id"], one["action"], one["outcome"]) for one in world.audit)
    meant: Counter[tuple[str, str, str]] = Counter()
    for one in world.rows["operation"].values():
        action = f"{one['resource_type']}.{one['kind']}"
        meant[one["resource_id"], action, "requested"] += 1
        meant[one["resource_id"], action, SETTLED.get(one["step"], "open")] += 1
    actions = {action for _, action, _ in meant}
    heard = Counter({key: count for key, count in said.items() if key[1] in actions})
    for key in heard.keys() | meant.keys():
        if heard[key] != meant[key]:
            yield f"{key[1:]}: {heard[key]} records, {meant[key]} operations"


def references_are_counted(world: World) -> Iterator[str]:
    """Each row's count of references is what a recount gives."""
    recount: Counter[tuple[str, str]] = Counter()
    for noun, fields in REFERS_TO.items():
        for row in world.rows[noun].values():
            for field, target in fields.items():
                recount[target, row[field]] += 1
    for noun in NAMED:
        for row_id, count in world.references[noun].items():
            if count != recount[noun, row_id]:
                yield f"a {noun} counts {count}, and there are {recount[noun, row_id]}"


def claims_are_held(world: World) -> Iterator[str]:
    """Names, slots, publications and target tables are claimed by those that have them, and by nobody else."""
    meant = {f"name/{noun}/{unique_key(row['name'])}": row["id"] for noun in NAMED for row in world.rows[noun].values()}
    meant |= {key: row["id"] for row in world.rows["pipeline"].values() for key in row["claims"]}
    held = {key: row["holder"] for key, row in world.claims.items() if row.get("holder")}
    yield from _difference("claims", held, meant)
    tables = {
        (key, table): holder
        for key, row in world.claims.items()
        for table, holder in json.loads(row.get("tables") or "{}").items()
    }
    yield from _difference("targets", tables, dict(_targets(world)))


def _targets(world: World) -> Iterator[tuple[tuple[str, str], str]]:
    for row in world.rows["delivery"].values():
        address = world.app.services.destinations.get(row["destination_id"]).address
        for mapping in row["mappings"]:
            yield (target_key(*address.identity, mapping["schema_name"]), mapping["table_name"]), row["id"]


def _difference(what: str, held: Mapping[Any, str], meant: Mapping[Any, str]) -> Iterator[str]:
    for key in held.keys() | meant.keys():
        if held.get(key) != meant.get(key):
            yield f"{what} {key}: held by {held.get(key)}, meant for {meant.get(key)}"


def _connector(noun: str, row: Json) -> str:
    return f"headgate-{'source' if noun == 'pipeline' else 'sink'}-{row['id'].replace('-', '')}"


RULES: tuple[Callable[[World], Iterable[str]], ...] = (
    nothing_is_open,
    each_connector_is_wanted,
    each_wanted_connector_is_there,
    each_operation_is_audited_once,
    references_are_counted,
    claims_are_held,
)
