"""Which resource a request is about, by its path and its answer: for the audit trail and the log."""

import re
from collections.abc import Mapping
from typing import Any

from chalicelib.api.framework.http import JsonResponse, WithList

_VARIABLE = re.compile(r"{(\w+)}")
_ID = "uuid"
"""The variable of a path that is an id ends so. Others are names, or tokens that must not be shown."""

NOUNS: Mapping[str, str] = {
    "sources": "source",
    "destinations": "destination",
    "connections": "connection",
    "pipelines": "pipeline",
    "deliveries": "delivery",
    "stream/clusters": "stream_cluster",
    "stream/topics": "topic",
    "connect/clusters": "connect_cluster",
    "operations/errors": "incident",
    "alerts": "alert",
    "alert-rules": "alert_rule",
    "maintenance": "maintenance_window",
    "notification-channels": "notification_channel",
    "users": "user",
    "tokens": "api_token",
    "internal/secrets": "secret",
}
"""The resources of paths, as actions of the audit trail name them. Others keep the name of their first segment."""


def noun_and_rest(path: str) -> tuple[str, str]:
    """The resource of a path pattern, and what follows it: `source` and `tables` of `/sources/{uuid}/tables`."""
    literal = "/".join(part for part in path.strip("/").split("/") if not part.startswith("{"))
    noun, _, rest = literal.partition("/")
    positions = {literal.rfind(plural): plural for plural in NOUNS if plural in literal}
    if positions:
        # The last one: `/destinations/{uuid}/deliveries/{delivery_uuid}` is a delivery.
        last = max(positions)
        noun, rest = NOUNS[positions[last]], literal[last + len(positions[last]) :].strip("/")
    return noun, rest


def resource_in_path(path: str, values: Mapping[str, Any]) -> Mapping[str, str]:
    """Type and id of the resource that a path names with these values; nothing when it names none."""
    ids = [values[name] for name in _VARIABLE.findall(path) if name.endswith(_ID)]
    return {"resource_type": _noun(path), "resource_id": ids[-1]} if ids else {}


def resource_in_answer(path: str, values: Mapping[str, Any], result: Any) -> Mapping[str, str]:
    """What the answer adds: the name of the resource that the path names, or the one that was created. Users have no
    name, only an address, which stays out.
    """
    body = result.body if isinstance(result, (JsonResponse, WithList)) else result
    entity_id, name = getattr(body, "id", None), getattr(body, "name", None)
    named = resource_in_path(path, values)
    # The job that a request has started, for example, is not what the request is about.
    if not isinstance(entity_id, str) or named.get("resource_id", entity_id) != entity_id:
        return {}
    created = {"resource_type": _noun(path), "resource_id": entity_id}
    return {**created, "resource_name": name} if isinstance(name, str) else created


def _noun(path: str) -> str:
    return noun_and_rest(path)[0].replace("-", "_")
