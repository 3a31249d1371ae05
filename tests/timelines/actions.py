"""The actions of timelines. Each function returns an action; `resource` is CAPTURE or DELIVERY."""

import json
from dataclasses import replace
from typing import Any

import httpx

from chalicelib.clients.connect import client
from chalicelib.clients.databases.errors import FailureCode
from infra.local.doubles.connect_faults import FaultEffect
from tests.support.apps.lost_snapshot import lose_snapshot
from tests.timelines.script import CAPTURE, Action
from tests.timelines.world import World, tables_of

OFTEN = 100_000
_LISTING = "^/connectors$"
_NO_WAIT = 0.05
"""Seconds that Headgate waits for workers that hang, in place of several."""

# connectors and tasks


def fail_task(resource: str, trace: str, *, failing_restarts: int = 0) -> Action:
    """Its task fails, and so do its next starts."""
    return lambda world: world.app.connect.fail_task(world.name_of(resource), trace, failing_restarts=failing_restarts)


def show(resource: str, state: str, *, task: int | None = None, works: bool = False) -> Action:
    """Kafka Connect shows this state of a connector or its task; `works` says whether it works nevertheless."""

    def act(world: World) -> None:
        world.app.connect.show(world.name_of(resource), state, task=task)
        world.freeze(resource)
        world.working[world.name_of(resource)] = works

    return act


def lose_tasks(resource: str, *tasks: int) -> Action:
    """These tasks are gone, or all. The connector reads RUNNING, and the tasks that are left work."""

    def act(world: World) -> None:
        connector = world.app.connect.connector(world.name_of(resource))
        for task in tasks or tuple(connector.tasks):
            del connector.tasks[task]
        connector.changed()
        world.freeze(resource)
        world.working[world.name_of(resource)] = bool(connector.tasks)

    return act


def vanish(resource: str) -> Action:
    def act(world: World) -> None:
        if world.name_of(resource) in world.app.connect.names():
            world.app.connect.drop(world.name_of(resource))

    return act


def by_hand(resource: str, action: str) -> Action:
    """Somebody calls Kafka Connect's pause, stop or resume for the connector."""
    return lambda world: _put(world, resource, action, None)


def rewrite(resource: str, **changes: str) -> Action:
    """Somebody changes the connector's config in Kafka Connect; two underscores in a key mean a dot."""
    changed = {key.replace("__", "."): value for key, value in changes.items()}
    return lambda world: _put(
        world, resource, "config", {**world.app.connect.config_of(world.name_of(resource)), **changed}
    )


def restore_config(resource: str) -> Action:
    """The config is again the one that the timeline began with."""
    return lambda world: _put(world, resource, "config", world.configs[world.name_of(resource)])


def heal(resource: str) -> Action:
    def act(world: World) -> None:
        world.frozen.pop(world.name_of(resource), None)
        connector = world.app.connect.connector(world.name_of(resource))
        connector.planned_failures.clear()
        with httpx.Client(trust_env=False) as http:
            http.post(f"{world.app.connect.url}/connectors/{connector.name}/restart?includeTasks=true")

    return act


def _put(world: World, resource: str, action: str, body: Any) -> None:
    url = f"{world.app.connect.url}/connectors/{world.name_of(resource)}/{action}"
    assert httpx.put(url, json=body, trust_env=False).is_success
    world.settle()


# Kafka Connect and Kafka


def connect_answers(effect: FaultEffect, *, method: str | None = None, path: str = "", body: object = None) -> Action:
    """Every answer of Kafka Connect to these calls is this one, until `connect_is_well`."""
    return lambda world: world.app.connect.plant(effect, method, path, times=OFTEN, body=body)


def connect_is_well(world: World) -> None:
    world.app.connect.faults.clear()


def connect_hangs(world: World) -> None:
    """Kafka Connect takes every request and answers none; Headgate does not wait long in this test."""
    query = client.Connect._query
    waits = dict(query.__kwdefaults__)
    world.ends.callback(lambda: setattr(query, "__kwdefaults__", waits))
    query.__kwdefaults__ = {**waits, "seconds": _NO_WAIT}
    connect_answers(FaultEffect.HANG, method="GET")(world)


def connect_shows_the_past(world: World) -> None:
    """The worker that answers lists the present state of every connector from now on."""
    listing = json.loads(world.app.connect.listing(["status", "info"]))
    connect_answers(FaultEffect.OTHER_BODY, method="GET", path=_LISTING, body=listing)(world)


def connect_lists_nothing(world: World) -> None:
    """The worker that answers has not read its topics yet: it lists no connectors at all."""
    connect_answers(FaultEffect.OTHER_BODY, method="GET", path=_LISTING, body={})(world)


def other_workers_answer(world: World) -> None:
    """Workers of another Kafka cluster, without connectors, answer at the address; the own ones go on unseen."""
    identity = world.app.connect.identity
    own = dict(identity)
    world.ends.callback(lambda: identity.update(own))
    identity["kafka_cluster_id"] = "another"
    world.ends.enter_context(world.app.connect.showing({}))


def own_workers_answer(world: World) -> None:
    world.ends.close()


def connect_down(world: World) -> None:
    """The worker is killed: no answer, and its tasks are gone."""
    world.app.connect.crash()


def connect_up(world: World) -> None:
    """The worker is started again: its old statuses first, then its tasks."""
    world.app.connect.boot()


def connect_unreachable(world: World) -> None:
    """The way to the worker is cut; its tasks work."""
    world.app.connect.refuse()


def connect_reachable(world: World) -> None:
    world.app.connect.accept()


def kafka_unreachable(world: World) -> None:
    world.app.kafka.refuse()


def kafka_reachable(world: World) -> None:
    world.app.kafka.accept()


def retention_deletes(world: World) -> None:
    """Kafka deletes everything of the delivery's topic, read or not."""
    topic = world.delivery.mappings[0].topic
    log = world.app.kafka.state.topics[topic].partitions[0]
    log.begin = log.end


# rows and the source


def traffic(**changes: Any) -> Action:
    """From now on rows move so; see `Traffic`."""

    def act(world: World) -> None:
        world.traffic = replace(world.traffic, **changes)

    return act


def backlog(rows: int) -> Action:
    return lambda world: world.app.kafka.state.advance(world.delivery.mappings[0].topic, rows)


def slot(**changes: Any) -> Action:
    """The capture's slot is shown so; see `Slot`."""

    def act(world: World) -> None:
        world.server.slots[world.pipeline.id] = replace(world.server.slot(world.pipeline), **changes)

    return act


def server(**changes: Any) -> Action:
    """The source's server is shown so; see `SourceServer` and `MySQLServer`."""

    def act(world: World) -> None:
        world.server = replace(world.server, **changes)

    return act


def only_snapshot_stored(world: World) -> None:
    """Connect has stored where the capture's snapshot was taken, and nothing of the stream: Debezium does not compare
    that with the slot when it starts.
    """
    (stored,) = world.app.connect.connector(world.pipeline.connector_name).offsets
    stored["offset"] = {"lsn": stored["offset"]["lsn_proc"], "snapshot": "INITIAL", "snapshot_completed": True}


def drop_slot(world: World) -> None:
    del world.server.slots[world.pipeline.id]


def database(*, reachable: bool, sessions: bool | None = None, refusal: FailureCode | None = None) -> Action:
    """Headgate and Debezium reach the source, or not. `sessions` says whether those of Debezium work nevertheless."""

    def act(world: World) -> None:
        world.app.database.reachable = reachable
        world.app.database.refusal = refusal or FailureCode.CONNECTION_REFUSED
        world.traffic = replace(world.traffic, captures=reachable if sessions is None else sessions)

    return act


def unpublish(table: int = 0) -> Action:
    def act(world: World) -> None:
        world.server.unpublished[world.pipeline.id] = {world.pipeline.capture.tables[table]}

    return act


def publish(world: World) -> None:
    world.server.unpublished.clear()


def fail_over(*, keeps_slot: bool = True, lacks: int = 0, writes: int = 0) -> Action:
    """A standby is promoted, with its slots or without. It lacks the last bytes of the log and has written others."""

    def act(world: World) -> None:
        server = world.server
        server.switches = {**server.switches, server.timeline: server.log_end - lacks}
        server.timeline += 1
        server.become_older(by=lacks, since=writes, reader="4242")
        if not keeps_slot:
            drop_slot(world)

    return act


def put_back(*, by: int, writes: int = 0) -> Action:
    """The server's volume is put back: the last bytes of the log are gone, and it has written others since.

    Without any that are gone it is an ordinary restart.
    """
    return lambda world: world.server.become_older(by=by, since=writes, reader="4242")


# the target


def target_table(**changes: Any) -> Action:
    """The delivery's target table is like this now; see `WatchedTable`."""

    def act(world: World) -> None:
        tables = world.app.database.target_tables
        world.app.database.target_tables = {name: replace(table, **changes) for name, table in tables.items()}

    return act


def drop_target(world: World) -> None:
    world.app.database.target_tables = {}


def make_target_again(world: World) -> None:
    """The sink writes one change into a new table, as auto_create has it."""
    world.app.database.target_tables = {
        name: replace(table, identity="2", storage="2", rows=1, live=1)
        for name, table in tables_of(world.delivery).items()
    }


# people


def ask(resource: str, action: str) -> Action:
    """Somebody asks Headgate for pause, resume, restart ... of the pipeline or the delivery."""
    return lambda world: world.api.call("POST", f"{_path(world, resource)}/{action}")


def delete(resource: str) -> Action:
    return lambda world: world.api.call("DELETE", _path(world, resource))


def _path(world: World, resource: str) -> str:
    return f"/pipelines/{world.pipeline.id}" if resource == CAPTURE else f"/deliveries/{world.delivery.id}"


def move_incidents(status: str) -> Action:
    def act(world: World) -> None:
        for incident in world.api.get("/operations/errors?active=true"):
            world.api.call("PATCH", f"/operations/errors/{incident['id']}?status={status}")

    return act


def deploy_another(world: World) -> None:
    world.app.deployed_pipeline()


# Headgate itself


def process_dies(world: World) -> None:
    """A new process replaces the present one. It has only the stored state."""
    world.app.restart()


def tear_snapshot(world: World) -> None:
    """Only a part of the last tick's state is stored, and its process has died."""
    lose_snapshot(world.app, world.cluster_id)


def clock(seconds: float) -> Action:
    """The clock of the machines that look is set by so much."""
    return lambda world: world.app.clock.advance(seconds)
