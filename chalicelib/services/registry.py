"""Everything that people register: unique names, versions, references, secrets and audit, in one transaction each."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any, Generic, Protocol, TypeVar

from chalicelib.domain.access import RequestContext
from chalicelib.domain.credentials import Credentials
from chalicelib.domain.names import unique_key
from chalicelib.domain.registered import Registered
from chalicelib.errors import Conflict, HeadgateError, Invalid, NotFound, VersionMismatch, WriteConflict
from chalicelib.kit.clock import Clock
from chalicelib.kit.pages import Page
from chalicelib.services.audit import AuditTrail, view
from chalicelib.services.credentials import CredentialVault, Secrets
from chalicelib.stores.claims import Claims
from chalicelib.stores.documents import Documents
from chalicelib.stores.transaction import Transaction


class Named(Protocol):
    """An entity with a unique name."""

    @property
    def id(self) -> str: ...
    @property
    def name(self) -> str: ...
    @property
    def version(self) -> int: ...
    @property
    def revision(self) -> int: ...
    @property
    def created_at(self) -> Any: ...


N = TypeVar("N", bound=Named)
E = TypeVar("E", bound=Registered)


@dataclass(frozen=True, slots=True, kw_only=True)
class Links:
    """What an entity refers to (each reference is counted there), and what it claims beside its name.

    `claims` maps the key of a claim to the word that an error names it by.
    """

    references: Sequence[tuple[Documents[Any], str]] = ()
    claims: Mapping[str, str] = field(default_factory=dict)


NO_LINKS = Links()


@dataclass(frozen=True, slots=True, kw_only=True)
class Registry:
    """Writes entities with unique names."""

    claims: Claims
    vault: CredentialVault
    audit: AuditTrail

    def create(
        self,
        context: RequestContext,
        store: Documents[N],
        resource_id: str,
        build: Callable[[Credentials], N],
        *,
        secrets: Secrets,
        links: Links = NO_LINKS,
    ) -> N:
        """Store a new entity, which `build` makes with its sealed credentials.

        Raises Conflict NAME_CONFLICT, Invalid REFERENCE_NOT_FOUND. When the same request has created it before (and
        its answer was lost), returns what is stored.
        """
        transaction = Transaction()
        entity = build(self.vault.seal_new(transaction, store.noun, resource_id, secrets))
        store.put_new(transaction, entity)
        self.claims.take(transaction, _name_key(store, entity), entity.id, label="name")
        for key, label in links.claims.items():
            self.claims.take(transaction, key, entity.id, label=label)
        for referred, referred_id in links.references:
            referred.refer(transaction, referred_id, +1)
        self.audit.record(transaction, context, f"{store.noun}.create", entity.id, after=view(entity))
        try:
            transaction.commit()
        except WriteConflict as conflict:
            if context.request_key == entity.id and (stored := store.find(entity.id)):
                return stored
            raise _create_error(store, conflict.label) from conflict
        return entity

    def update(
        self,
        context: RequestContext,
        store: Documents[E],
        before: E,
        build: Callable[[Credentials], E],
        secrets: Secrets,
        *,
        unused: bool = False,
    ) -> E:
        """Replace a registered entity by the one that `build` makes with its credentials, rotated where a secret came.

        With `unused` nothing may refer to it. Raises Conflict RESOURCE_IN_USE, NAME_CONFLICT, VersionMismatch.
        """
        expect_version(context, before.version)
        transaction = Transaction()
        credentials = self.vault.rotate(transaction, store.noun, before.id, before.credentials, secrets)
        after = store.save(transaction, build(credentials), unused=unused)
        if _name_key(store, before) != _name_key(store, after):
            self.release_name(transaction, store, before)
            self.claims.take(transaction, _name_key(store, after), after.id, label="name")
        self.audit.record(
            transaction, context, f"{store.noun}.update", after.id, before=view(before), after=view(after)
        )
        try:
            transaction.commit()
        except WriteConflict as conflict:
            if unused and store.references(before.id):
                raise in_use(store.noun) from conflict
            raise _update_error(context, store, conflict.label) from conflict
        return after

    def delete(self, context: RequestContext, store: Documents[E], entity: E, *, links: Links = NO_LINKS) -> None:
        """Remove an entity that nothing refers to. Raises Conflict RESOURCE_IN_USE, VersionMismatch."""
        expect_version(context, entity.version)
        transaction = Transaction()
        store.remove(transaction, entity)
        self.release_name(transaction, store, entity)
        self.unlink(transaction, entity.id, links)
        self.vault.remove(transaction, entity.credentials)
        self.audit.record(transaction, context, f"{store.noun}.delete", entity.id, before=view(entity))
        try:
            transaction.commit()
        except WriteConflict as conflict:
            raise self._delete_error(context, store, entity.id) from conflict

    def unlink(self, transaction: Transaction, entity_id: str, links: Links) -> None:
        """Release the claims and count down the references of an entity that is being removed."""
        for key in links.claims:
            self.claims.release(transaction, key, entity_id)
        for referred, referred_id in links.references:
            referred.refer(transaction, referred_id, -1)

    def release_name(self, transaction: Transaction, store: Documents[N], entity: N) -> None:
        """Make the entity's name free again."""
        self.claims.release(transaction, _name_key(store, entity), entity.id)

    def _delete_error(self, context: RequestContext, store: Documents[E], entity_id: str) -> HeadgateError:
        if store.find(entity_id) is None:
            return NotFound(f"There is no {store.noun} with this id.")
        if store.references(entity_id):
            return in_use(store.noun)
        return _update_error(context, store, f"{store.noun}.changed")


@dataclass(frozen=True, slots=True, kw_only=True)
class RegisteredInput:
    """What people say about something that they register: fields of the entity, by the same names, and its secrets."""

    name: str
    secrets: Secrets

    def entity_fields(self) -> dict[str, Any]:
        """Everything but the secrets."""
        return {one.name: getattr(self, one.name) for one in fields(self) if one.name != "secrets"}


@dataclass(frozen=True, slots=True, kw_only=True)
class RegisteredService(Generic[E]):
    """What the services of all registered entities have in common."""

    kind: Callable[..., E]
    store: Documents[E]
    registry: Registry
    clock: Clock

    def get(self, entity_id: str) -> E:
        """The entity; raises NotFound."""
        return self.store.get(entity_id)

    def list(self, *, limit: int, after: str | None) -> Page[E]:
        """Those of this kind, newest first."""
        return self.store.list(limit=limit, after=after)

    def delete(self, context: RequestContext, entity_id: str) -> None:
        """Remove an entity that nothing refers to. Raises NotFound, VersionMismatch, Conflict RESOURCE_IN_USE."""
        entity = self.store.get(entity_id)
        self.registry.delete(context, self.store, entity, links=self.links(entity))

    def links(self, entity: E) -> Links:
        """What the entity refers to and claims."""
        return NO_LINKS

    def _built(self, context: RequestContext, data: RegisteredInput) -> E:
        """A new entity, which has no secret yet and is not stored."""
        entity_id, now = context.fresh_id(), self.clock()
        credentials = Credentials(id=entity_id)
        return self.kind(id=entity_id, credentials=credentials, created_at=now, updated_at=now, **data.entity_fields())

    def _edited(self, before: E, data: RegisteredInput) -> E:
        """The next version of the entity. Its secrets are as before, and it is not stored."""
        return replace(before, version=before.version + 1, updated_at=self.clock(), **data.entity_fields())

    def _create(self, context: RequestContext, entity: E, secrets: Secrets) -> E:
        return self.registry.create(
            context,
            self.store,
            entity.id,
            lambda credentials: replace(entity, credentials=credentials),
            secrets=secrets,
            links=self.links(entity),
        )


def expect_version(context: RequestContext, version: int) -> None:
    """Raise VersionMismatch when the client has seen another version."""
    if context.if_match is not None and context.if_match != version:
        raise VersionMismatch("It has changed since you read it. Read it again and repeat your change.")


def in_use(noun: str) -> Conflict:
    """The error for deleting what others refer to."""
    return Conflict(f"This {_words(noun)} is in use. Delete what uses it first.", code="RESOURCE_IN_USE")


def _words(noun: str) -> str:
    return noun.replace("_", " ")


def _name_key(store: Documents[Any], entity: Named) -> str:
    return f"name/{store.noun}/{unique_key(entity.name)}"


def _create_error(store: Documents[Any], label: str) -> HeadgateError:
    if label.endswith(".missing"):
        noun = _words(label.removesuffix(".missing"))
        return Invalid(f"The {noun} that this refers to does not exist.", code="REFERENCE_NOT_FOUND")
    if label.endswith(".exists"):
        return Conflict("The same request is being carried out at this moment.", code="REQUEST_IN_PROGRESS")
    if label == "name":
        return _name_conflict(store)
    return Conflict(f"Another {_words(store.noun)} uses this {label}.", code="NAME_CONFLICT")


def _update_error(context: RequestContext, store: Documents[Any], label: str) -> HeadgateError:
    if label == "name":
        return _name_conflict(store)
    message = "It was changed by somebody else at the same moment. Read it again and repeat your change."
    return VersionMismatch(message) if context.if_match is not None else Conflict(message)


def _name_conflict(store: Documents[Any]) -> Conflict:
    return Conflict(f"Another {_words(store.noun)} has this name.", code="NAME_CONFLICT")
