"""Entities as audit records show them."""

from collections.abc import Mapping
from dataclasses import asdict
from datetime import datetime
from enum import Enum
from typing import Any

from chalicelib.domain.audit.record import View
from chalicelib.domain.delivery import Delivery
from chalicelib.domain.observation import ConnectorStatus, Observation, TaskStatus
from chalicelib.domain.pipeline import Pipeline
from chalicelib.domain.reasons import explanation
from chalicelib.kit.adapters import adapter
from chalicelib.kit.clock import rfc3339


def view(entity: Any) -> View:
    """An entity as an audit record shows it: plain JSON with the names and times of the API.

    Of credentials only whether they are configured, and how often each was rotated, so that a rotation is a change;
    fields that only the stores need are left out.
    """
    kind: Any = type(entity)
    shown: dict[str, Any] = adapter(kind).dump_python(entity, exclude=_INTERNAL)
    if "credentials" in shown:
        rotated = any(version > 1 for version in entity.credentials.fields.values())
        versions = {"versions": dict(entity.credentials.fields)} if rotated else {}
        shown["credentials"] = {"configured": entity.credentials.configured, **versions}
    if isinstance(entity, Pipeline | Delivery) and entity.observation:
        shown["observation"] |= _observation_texts(entity, entity.observation)
    if address := shown.pop("address", None):
        shown |= {"provider": address.pop("provider"), "config": address} if "provider" in address else address
    if capture := shown.get("capture"):
        capture["options"] |= capture.pop("provider_options")
    if writing := shown.pop("writing", None):
        shown |= {"mappings": writing.pop("mappings"), "options": {**writing, "tasks_max": shown.pop("tasks_max")}}
    return {name: _plain(value) for name, value in shown.items()}


def _observation_texts(resource: Pipeline | Delivery, observation: Observation) -> View:
    """The fields of an observation that are texts for people, which are stored as codes."""
    explained = explanation(resource)
    texts, connector = {"reasons": explained.reasons, "notices": explained.notices}, observation.connector
    if connector is None:
        return texts
    tasks = [_with_hint(connector, task) for task in connector.tasks]
    return {**texts, "connector": {**_with_hint(connector, connector), "tasks": tasks}}


def _with_hint(connector: ConnectorStatus, part: ConnectorStatus | TaskStatus) -> dict[str, Any]:
    shown, hint = asdict(part), connector.hint(part)
    del shown["diagnosis"], shown["cause"], shown["checksum"]
    return {**shown, "hint": asdict(hint) if hint else None}


_INTERNAL = {
    *("revision", "claims", "config_hash", "secrets_digest", "provider", "generation"),
    *("pending_deletions", "pending_creations"),
    *("server_identity", "tested_at", "last_delivery"),
}


def _plain(value: Any) -> Any:
    match value:
        case datetime():
            return rfc3339(value)
        case Enum():
            return value.value
        case Mapping():
            return {str(name): _plain(item) for name, item in value.items()}
        case list() | tuple():
            return [_plain(item) for item in value]
        case _:
            return value
