"""Removes earlier demonstrations: resources of Headgate through the API, all else directly in the servers."""

import time
from typing import Any

import psycopg
from psycopg.sql import SQL, Identifier

from infra.local.demo import topics as demo_topics
from infra.local.demo.api import Api, Json, wait_until
from infra.local.demo.data import PREFIX, connected

ENVIRONMENT = "headgate demo"
"""The environment of a demonstration's sources and destinations; the names of its rules and channels begin with it.
Nothing else is ever removed.
"""


def remove_from_headgate(api: Api) -> int:
    """Deletes the resources of earlier demonstrations in Headgate; returns their number."""
    sources = _marked(api, "/sources")
    destinations = _marked(api, "/destinations")
    pipelines = {pipeline["id"]: pipeline for pipeline in api.every("/pipelines") if pipeline["source_id"] in sources}
    deliveries = [
        delivery["id"]
        for delivery in api.every("/deliveries")
        if delivery["destination_id"] in destinations or delivery["pipeline_id"] in pipelines
    ]
    connections = [one["id"] for one in api.every("/connections") if one["name"].startswith("demo ")]
    paths = [
        *(f"/deliveries/{id_}" for id_ in deliveries),
        *(f"/pipelines/{id_}" for id_ in pipelines),
        *(f"/destinations/{id_}" for id_ in destinations),
        *(f"/sources/{id_}" for id_ in sources),
        *(f"/connections/{id_}" for id_ in connections),
        *(f"{kind}/{id_}" for kind in ("/alert-rules", "/notification-channels") for id_ in _named(api, kind)),
    ]
    for path in paths:
        delete(api, path)
    return len(paths) + _remove_clusters(api)


def _remove_clusters(api: Api) -> int:
    """Deletes the clusters that demonstrations have registered, but for those that somebody uses meanwhile."""
    pipelines = api.every("/pipelines")
    used = {one[field] for one in pipelines for field in ("stream_cluster_id", "connect_cluster_id")}
    used |= {one["connect_cluster_id"] for one in api.every("/deliveries")}
    removed = 0
    for kind in ("/connect/clusters", "/stream/clusters"):
        for cluster in api.every(kind):
            if cluster["id"] in used or not cluster["name"].startswith("demo "):
                used.add(cluster.get("stream_cluster_id"))
            else:
                delete(api, f"{kind}/{cluster['id']}")
                removed += 1
    return removed


def delete(api: Api, path: str) -> None:
    """Deletes one resource, and waits until it is gone if the deletion is still running."""
    kind, _, id_ = path.rpartition("/")
    if api.delete(path) is not None:
        wait_until(
            lambda: [resource["id"] for resource in api.every(kind)],
            lambda ids: id_ not in ids,
            expected=f"{path} to be gone",
        )


def remove_from_servers(superuser: str, kafka: str, *, topics: bool) -> int:
    """Drops the demonstrations' slots, databases, roles and topics; returns how many things."""
    with connected(superuser) as connection:
        slots = _names(connection, "SELECT slot_name FROM pg_replication_slots WHERE database LIKE %s")
        for slot in slots:
            _drop_slot(connection, slot)
        databases = _names(connection, "SELECT datname FROM pg_database WHERE datname LIKE %s")
        for name in databases:
            connection.execute(SQL("DROP DATABASE {} WITH (FORCE)").format(Identifier(name)))
        roles = _names(connection, "SELECT rolname FROM pg_roles WHERE rolname LIKE %s")
        for name in roles:
            connection.execute(SQL("DROP ROLE {}").format(Identifier(name)))
    dropped = len(slots) + len(databases) + len(roles)
    return dropped + (demo_topics.delete_former(kafka) if topics else 0)


def _marked(api: Api, path: str) -> dict[str, Json]:
    return {resource["id"]: resource for resource in api.every(path) if resource["environment"] == ENVIRONMENT}


def _named(api: Api, path: str) -> list[str]:
    return [resource["id"] for resource in api.every(path) if resource["name"].startswith(f"{ENVIRONMENT} ")]


def _names(connection: psycopg.Connection[Any], query: str) -> list[str]:
    pattern = PREFIX.replace("_", r"\_") + "%"
    return [name for (name,) in connection.execute(query.encode(), [pattern]).fetchall()]


def _drop_slot(connection: psycopg.Connection[Any], name: str) -> None:
    """Its connector is gone, but the connection may still be open, so it is ended here."""
    for _ in range(50):
        connection.execute(
            "SELECT pg_terminate_backend(active_pid) FROM pg_replication_slots "
            "WHERE slot_name = %s AND active_pid IS NOT NULL",
            [name],
        )
        try:
            connection.execute("SELECT pg_drop_replication_slot(%s)", [name])
        except psycopg.errors.ObjectInUse:
            time.sleep(0.2)
        else:
            return
