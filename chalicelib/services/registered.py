"""What the services of everything that people register have in common."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import wraps
from typing import Any, Generic, ParamSpec, TypeVar

from chalicelib.domain.access import RequestContext
from chalicelib.domain.credentials import Secrets
from chalicelib.domain.plans.of_registered import Outdated, of_update
from chalicelib.domain.plans.plan import Consequence
from chalicelib.domain.registered import Registered
from chalicelib.domain.search import EVERYTHING, Search
from chalicelib.errors import StoreBusy, WriteConflict
from chalicelib.kit.clock import Clock
from chalicelib.kit.pages import Page
from chalicelib.kit.retry import Retry
from chalicelib.services.registry import NO_LINKS, Links, Registry
from chalicelib.stores.searched import SearchedDocuments
from chalicelib.stores.transaction import Transaction

E = TypeVar("E", bound=Registered[Any])
P = ParamSpec("P")
T = TypeVar("T")

_AGAIN = Retry(attempts=6, first_pause=0.02, longest_pause=0.3)

OutdatedAfter = Callable[[str, Registered[Any]], Sequence[Outdated] | None]
"""The pipelines and deliveries whose connectors would be outdated once an entity of this type is stored as it is; None
when that cannot be read.
"""


def retried(change: Callable[P, T]) -> Callable[P, T]:
    """A change that begins anew after a WriteConflict, when what it has read was written meanwhile. The `Registry` says
    which writes those are. It raises StoreBusy when that happened each time.
    """

    @wraps(change)
    def changed(*args: P.args, **kwargs: P.kwargs) -> T:
        try:
            return _AGAIN.run(lambda _attempt: change(*args, **kwargs), on=WriteConflict)
        except WriteConflict as conflict:
            message = "Others write it at this moment. Wait as long as Retry-After says, then repeat."
            raise StoreBusy(message) from conflict

    return changed


@dataclass(frozen=True, slots=True, kw_only=True)
class RegisteredInput:
    """What people say about something that they register: fields of the entity, by the same names, and its secrets.
    Each kind has an `address`.
    """

    name: str
    labels: Mapping[str, str] = field(default_factory=dict)
    secrets: Secrets

    def entity_fields(self) -> dict[str, Any]:
        """Everything but the secrets."""
        return {one.name: getattr(self, one.name) for one in fields(self) if one.name != "secrets"}


@dataclass(frozen=True, slots=True, kw_only=True)
class RegisteredService(Generic[E]):
    """Read and delete the entities of one kind; build those that are to be stored."""

    kind: Callable[..., E]
    store: SearchedDocuments[E]
    registry: Registry
    outdated_after: OutdatedAfter
    clock: Clock

    def get(self, entity_id: str) -> E:
        """The entity; its health is not known when its monitor has not looked for too long. Raises NotFound."""
        return self.store.get(entity_id).as_of(self.clock())

    def list(self, *, limit: int, after: str | None, search: Search = EVERYTHING) -> Page[E]:
        """The same of what is looked for among those of this kind, newest first."""
        now = self.clock()
        return self.store.search(search, limit=limit, after=after).map(lambda entity: entity.as_of(now))

    @retried
    def delete(self, context: RequestContext, entity_id: str) -> None:
        """Remove an entity that nothing refers to. Raises NotFound, VersionMismatch, Conflict RESOURCE_IN_USE."""
        entity = self._current(context, entity_id)
        self.registry.delete(context, self.store, entity, links=self.links(entity))

    def links(self, entity: E) -> Links:
        """What the entity refers to and claims."""
        return NO_LINKS

    def consequences(self, before: E, after: E) -> Sequence[Consequence]:
        """What follows from a change."""
        if before.endpoint == after.endpoint:
            return ()
        return tuple(of_update(self.outdated_after(self.store.noun, after)))

    def _current(self, context: RequestContext, entity_id: str) -> E:
        """The entity that is about to be changed. Raises NotFound, VersionMismatch."""
        entity = self.store.get(entity_id)
        context.expect_version(entity.version)
        return entity

    def _built(self, transaction: Transaction, context: RequestContext, data: RegisteredInput) -> E:
        """A new entity. Its secrets are part of the transaction."""
        entity_id, now = context.fresh_id(), self.clock()
        credentials = self.registry.vault.seal_new(transaction, self.store.noun, entity_id, data.secrets)
        fields = {"credentials": credentials, **data.entity_fields()}
        entity = self.kind(id=entity_id, created_at=now, updated_at=now, **fields)
        entity.endpoint.require_needed_secrets()
        return entity

    def _edited(self, transaction: Transaction, before: E, data: RegisteredInput) -> E:
        """The next version of the entity. Secrets that are not left blank are rotated in the transaction.

        Raises Invalid when stored secrets would be sent to another place.
        """
        changes = data.entity_fields() | {"updated_at": self.clock()}
        after = replace(before, version=before.version + 1, **changes)
        vault, noun = self.registry.vault, self.store.noun
        trusts_another = vault.differs(before.credentials, data.secrets, before.endpoint.address.TRUST)
        before.endpoint.require_secrets_for(after.endpoint.address, data.secrets, trusts_another=trusts_another)
        credentials = vault.rotate(
            transaction, noun, before.id, before.credentials, data.secrets, first_version=after.version
        )
        edited = replace(after, credentials=credentials)
        edited.endpoint.require_needed_secrets()
        return edited
