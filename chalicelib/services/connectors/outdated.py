"""Connectors that run with another config, or with other secrets, than they would get now."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

from chalicelib.domain.observation import DesiredState
from chalicelib.domain.registered import Registered
from chalicelib.domain.usage import UsedBy, used_by
from chalicelib.errors import NotFound, StoreUnavailable
from chalicelib.services.connectors.owner import ConnectorOwner, outdated

MAX_EXAMINED = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class OutdatedConnector:
    """The pipeline or delivery that owns the connector, and the connector's name."""

    type: str
    id: str
    name: str
    connector_name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class OutdatedConnectors:
    """`owners` are what knows the connectors of a source, a destination or a stream cluster, and the index that lists
    them, by the type of that.
    """

    owners: Mapping[str, tuple[ConnectorOwner[Any], str]]

    def of(self, users: Iterable[UsedBy], *, credentials_id: str | None = None) -> Sequence[OutdatedConnector] | None:
        """Those of the first `MAX_EXAMINED` deployed connectors of these users; None when that cannot be read. With an
        id only connectors whose config refers to these credentials.
        """
        try:
            return list(islice(self._examine(users, credentials_id), MAX_EXAMINED))
        except (StoreUnavailable, NotFound):
            return None

    def after_change(self, *changed: tuple[str, Registered[Any]]) -> Sequence[OutdatedConnector] | None:
        """Those that would be outdated once these entities, with their types, are stored as they are here; None when
        that cannot be read. Of the first `MAX_EXAMINED` deployed connectors of each.
        """
        try:
            return [_named(owner, resource) for owner, resource in self._examine_change(changed)]
        except (StoreUnavailable, NotFound):
            return None

    def _examine_change(
        self, changed: Iterable[tuple[str, Registered[Any]]]
    ) -> Iterator[tuple[ConnectorOwner[Any], Any]]:
        for noun, entity in changed:
            users = [used_by(noun, entity)] if noun in self.owners else []
            for owner, resource in islice(self._deployed(users), MAX_EXAMINED):
                # Dependencies have a field for each type, by its name.
                referred: Any = {noun: entity}
                if outdated(owner, resource, replace(owner.load_dependencies(resource), **referred)):
                    yield owner, resource

    def _examine(self, users: Iterable[UsedBy], credentials_id: str | None) -> Iterator[OutdatedConnector]:
        for owner, resource in islice(self._deployed(users), MAX_EXAMINED):
            deps = owner.load_dependencies(resource)
            if outdated(owner, resource, deps) and (
                credentials_id is None
                or any(one.id == credentials_id for one in owner.config(resource, deps).credentials)
            ):
                yield _named(owner, resource)

    def _deployed(self, users: Iterable[UsedBy]) -> Iterator[tuple[ConnectorOwner[Any], Any]]:
        for user in users:
            owner, group = self.owners[user.type]
            for resource in owner.store.list_in(group, user.id, limit=MAX_EXAMINED).items:
                if resource.desired_state is not DesiredState.DRAFT:
                    yield owner, resource


def _named(owner: ConnectorOwner[Any], resource: Any) -> OutdatedConnector:
    return OutdatedConnector(
        type=owner.store.noun, id=resource.id, name=resource.name, connector_name=resource.connector_name
    )
