"""The export of all definitions (wire contract, section 9)."""

from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from typing import Any, NamedTuple, Self

from pydantic import Field

from chalicelib.api.contract.alert_rules import alert_rule_definition
from chalicelib.api.contract.channels import channel_definition
from chalicelib.api.contract.clusters import connect_cluster_definition, stream_cluster_definition
from chalicelib.api.contract.common import Output, Timestamp
from chalicelib.api.contract.connections import connection_definition
from chalicelib.api.contract.deliveries import delivery_definition
from chalicelib.api.contract.destinations import destination_definition
from chalicelib.api.contract.pipelines import pipeline_definition
from chalicelib.api.contract.sources import source_definition
from chalicelib.api.contract.views import Definition
from chalicelib.domain.alerts.channel import Channel
from chalicelib.kit.pages import Page, page_of
from chalicelib.services.export import Exported

FORM = "1"
"""It changes with what a client has to know to read an export."""

KINDS: Mapping[str, tuple[str, Callable[[Any], Definition]]] = {
    "stream_cluster": ("stream_clusters", stream_cluster_definition),
    "connect_cluster": ("connect_clusters", connect_cluster_definition),
    "connection": ("connections", connection_definition),
    "source": ("sources", source_definition),
    "destination": ("destinations", destination_definition),
    "pipeline": ("pipelines", pipeline_definition),
    "delivery": ("deliveries", delivery_definition),
    "notification_channel": ("notification_channels", channel_definition),
    "alert_rule": ("alert_rules", alert_rule_definition),
}
"""The list of each type in an export, and how its resources are shown there."""


class ReferenceOutput(Output):
    """What a resource refers to: an id in its definition, or the destination on which a delivery is deployed."""

    field: str = Field(description="The field that has the id, alone or among others.")
    type: str = Field(description="The type of what has the id, such as `source`.")
    id: str = Field(description="Its id here. Another installation has another one.")
    name: str | None = Field(description="Its name; null when it was deleted.")


class ExportedOutput(Output):
    """One resource."""

    id: str = Field(description="Its id here.")
    name: str = Field(description="Its name, as in the definition.")
    definition: Definition = Field(description="What POST takes, without secrets.")
    references: list[ReferenceOutput] = Field(description="What it refers to.")
    secrets: list[str] = Field(
        description="The fields of secrets that it has, such as `credentials.password`: give them with the POST."
    )

    @classmethod
    def of_exported(cls, exported: Exported) -> Self:
        entity, (_, definition) = exported.entity, KINDS[exported.type]
        return cls(
            id=entity.id,
            name=entity.name,
            definition=definition(entity),
            references=[ReferenceOutput.of(reference) for reference in exported.references],
            secrets=_secrets(exported.type, entity),
        )


class ExportedItem(NamedTuple):
    """A resource at its place in the export."""

    key: str
    type: str
    shown: ExportedOutput


class ExportOutput(Output):
    """A part of the definitions of an installation. A kind comes after those that it refers to."""

    version: str = Field(description="The version of this form.")
    exported_at: Timestamp = Field(description="When this part was read.")
    stream_clusters: list[ExportedOutput] = Field(description="To POST to `/stream/clusters`.")
    connect_clusters: list[ExportedOutput] = Field(description="To POST to `/connect/clusters`.")
    connections: list[ExportedOutput] = Field(description="To POST to `/connections`.")
    sources: list[ExportedOutput] = Field(description="To POST to `/sources`.")
    destinations: list[ExportedOutput] = Field(description="To POST to `/destinations`.")
    pipelines: list[ExportedOutput] = Field(description="To POST to `/pipelines`, after their sources were discovered.")
    deliveries: list[ExportedOutput] = Field(
        description="To POST to `/destinations/{uuid}/deploy`, after their pipelines were deployed."
    )
    notification_channels: list[ExportedOutput] = Field(description="To POST to `/notification-channels`.")
    alert_rules: list[ExportedOutput] = Field(description="To POST to `/alert-rules`.")

    @classmethod
    def of_page(cls, page: Page[ExportedItem], at: datetime) -> Self:
        lists: dict[str, list[ExportedOutput]] = {name: [] for name, _ in KINDS.values()}
        for item in page.items:
            lists[KINDS[item.type][0]].append(item.shown)
        return cls(version=FORM, exported_at=at, **lists)


def export_page(exported: Iterable[Exported], limit: int) -> Page[ExportedItem]:
    """The first resources of an export, as many as fit into one body."""
    items = (ExportedItem(one.key, one.type, ExportedOutput.of_exported(one)) for one in exported)
    return page_of(items, key=lambda item: item.key, limit=limit, size=_room)


def _room(item: ExportedItem) -> int:
    """Bytes that one takes in a function's answer, where quotes take two, with half of that as a margin: a page ends
    behind the one that fills it.
    """
    text = item.shown.model_dump_json()
    return (len(text.encode()) + text.count('"') + text.count("\\")) * 3 // 2


def _secrets(type_: str, entity: Any) -> list[str]:
    """The secret fields of its own. What uses a connection has none."""
    fields = entity.credentials.fields if hasattr(entity, "credentials") else {}
    if isinstance(entity, Channel):
        return [f"config.{name}" for name in sorted(fields)]
    if not fields or not entity.credentials.belong_to(type_, entity.id):
        return []
    return [f"credentials.{name}" for name in sorted(fields.keys() & entity.address.SECRETS)]
