"""Maintenance windows (wire contract, section 9)."""

from typing import Annotated, Self

from pydantic import Field, StringConstraints

from chalicelib.api.contract.alert_rules import Selected
from chalicelib.api.contract.common import Input, Lines, Name, Output, Time, Timestamp
from chalicelib.api.contract.labels import Labels
from chalicelib.domain.alerts.maintenance import (
    MAX_LENGTH,
    MaintenanceScope,
    MaintenanceState,
    MaintenanceValues,
    MaintenanceWindow,
)


class MaintenanceScopeBody(Input):
    """What the work is about. Alerts are in scope when they are about one of the named resources, or about one that has
    all of the labels. Something has to be named.
    """

    labels: Labels = Field(default_factory=dict, description="A resource has to have all of these pairs.")
    source_ids: Selected = Field(default=(), description="These sources, their pipelines and the deliveries of those.")
    destination_ids: Selected = Field(default=(), description="These destinations and their deliveries.")
    pipeline_ids: Selected = Field(default=(), description="These pipelines and their deliveries.")
    connect_cluster_ids: Selected = Field(default=(), description="These Connect clusters and all that runs on them.")


class MaintenanceBody(Input):
    """Planned work: alerts about it are observed and kept, and nobody is notified of them until it is over."""

    name: Name = Field(description="What people call it. Several may have the same name.")
    from_: Time = Field(alias="from", description="When it begins, with its zone. A time that has passed is now.")
    until: Time = Field(
        description=f"When it ends by itself: in the future, and at most {MAX_LENGTH.days} days after `from`."
    )
    reason: Annotated[Lines, StringConstraints(min_length=1, max_length=300)] = Field(
        description="Why, for the people who read it later."
    )
    scope: MaintenanceScopeBody = Field(description="Which alerts are kept.")

    def to_values(self) -> MaintenanceValues:
        """The values of the window."""
        return MaintenanceValues(
            name=self.name,
            starts_at=self.from_,
            until=self.until,
            reason=self.reason,
            scope=MaintenanceScope(**dict(self.scope)),
        )


class MaintenanceScopeOutput(Output):
    """What the work is about."""

    labels: dict[str, str]
    source_ids: list[str]
    destination_ids: list[str]
    pipeline_ids: list[str]
    connect_cluster_ids: list[str]


class MaintenanceOutput(Output):
    """A maintenance window. Ended ones are listed for thirty days."""

    id: str
    name: str
    from_: Timestamp = Field(serialization_alias="from")
    until: Timestamp
    reason: str
    scope: MaintenanceScopeOutput
    state: MaintenanceState = Field(description="Whether it has begun, and whether it is over.")
    created_at: Timestamp
    created_by: str = Field(description="The e-mail address of who made it.")
    version: int

    @classmethod
    def of_window(cls, window: MaintenanceWindow, state: MaintenanceState) -> Self:
        """The window in the state that it has now."""
        return cls._read(window, from_=window.starts_at, state=state)
