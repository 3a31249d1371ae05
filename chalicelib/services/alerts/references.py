"""Checks that what alert rules and maintenance windows name by id exists."""

from collections.abc import Mapping
from typing import Any

from chalicelib.errors import Invalid, fault
from chalicelib.stores.documents import Readable, batch_exists

_KINDS: Mapping[str, tuple[str, str]] = {
    "channel_ids": ("channel", "/notification-channels"),
    "source_ids": ("source", "/sources"),
    "destination_ids": ("destination", "/destinations"),
    "pipeline_ids": ("pipeline", "/pipelines"),
    "connect_cluster_ids": ("Connect cluster", "/connect/clusters"),
}
"""By field: what its ids are those of, and the path that lists them."""


def require_existing(stores: Mapping[str, Readable], named: Any, *above: str, known: Any = None) -> None:
    """Raise Invalid REFERENCE_NOT_FOUND with the location of each id that does not exist.

    `stores` are those of the fields of `named` that have ids; `above` is where these fields are in the body. What
    `known` names in the same fields is not looked up.
    """
    places = [
        (field, position, entity_id)
        for field in stores
        for position, entity_id in enumerate(getattr(named, field))
        if known is None or entity_id not in getattr(known, field)
    ]
    exist = batch_exists(*((stores[field], entity_id) for field, _, entity_id in places)) if places else []
    faults = [
        fault("body", *above, field, position, type_="not_found", message=_no_such(field, position, *above))
        for (field, position, _), exists in zip(places, exist, strict=True)
        if not exists
    ]
    if faults:
        raise Invalid.of(faults, code="REFERENCE_NOT_FOUND")


def _no_such(field: str, position: int, *above: str) -> str:
    kind, path = _KINDS[field]
    place = ".".join((*above, field))
    return f"{place}[{position}] is no id of a {kind} that exists. GET /api/v1{path} lists the ids."
