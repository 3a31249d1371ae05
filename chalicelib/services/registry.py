"""Create, change and remove any registered thing: unique names, versions, references, secrets and audit in one go."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeVar

from chalicelib.domain.access import RequestContext
from chalicelib.domain.credentials import Credentials, Secrets
from chalicelib.domain.names import unique_key
from chalicelib.errors import Conflict, HeadgateError, Invalid, NotFound, VersionMismatch, WriteConflict
from chalicelib.services.audit import AuditTrail, view
from chalicelib.services.credentials import CredentialVault
from chalicelib.stores.claims import Claims
from chalicelib.stores.documents import Documents
from chalicelib.stores.transaction import Transaction


class Named(Protocol):
    """What the registry needs of an entity."""

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


@dataclass(frozen=True, slots=True, kw_only=True)
class Links:
    """What an entity hangs on: references to count, and claims to hold beside its name (key -> what is unique)."""

    references: Sequence[tuple[Documents[Any], str]] = ()
    claims: Mapping[str, str] = field(default_factory=dict)


NO_LINKS = Links()


@dataclass(frozen=True, slots=True, kw_only=True)
class Registry:
    """The one way in which a registered thing is written."""

    claims: Claims
    vault: CredentialVault
    audit: AuditTrail

    def create(
        self,
        context: RequestContext,
        rows: Documents[N],
        resource_id: str,
        build: Callable[[Credentials], N],
        *,
        secrets: Secrets,
        links: Links = NO_LINKS,
    ) -> N:
        """Store a new thing, which `build` makes around its sealed credentials.

        Raises Conflict NAME_CONFLICT, Invalid REFERENCE_NOT_FOUND. When this very request has created it before (its
        answer was lost), what is stored is the answer.
        """
        transaction = Transaction()
        entity = build(self.vault.seal_new(transaction, rows.noun, resource_id, secrets))
        rows.put_new(transaction, entity)
        self.claims.take(transaction, _name_key(rows, entity), entity.id, label="name")
        for key, what in links.claims.items():
            self.claims.take(transaction, key, entity.id, label=what)
        for referred, referred_id in links.references:
            referred.refer(transaction, referred_id, +1)
        self.audit.record(transaction, context, f"{rows.noun}.create", entity.id, after=view(entity))
        try:
            transaction.commit()
        except WriteConflict as conflict:
            if context.request_key == entity.id and (stored := rows.find(entity.id)):
                return stored
            raise _create_error(rows, conflict.label) from conflict
        return entity

    def update(
        self,
        context: RequestContext,
        rows: Documents[N],
        before: N,
        build: Callable[[Credentials], N],
        secrets: Secrets,
        *,
        unused: bool = False,
    ) -> N:
        """Replace a stored thing by what `build` makes of its (perhaps rotated) credentials, one version later.

        With `unused` nothing may point at it. Raises Conflict RESOURCE_IN_USE, NAME_CONFLICT, VersionMismatch.
        """
        expect_version(context, before.version)
        transaction = Transaction()
        credentials = self.vault.rotate(transaction, rows.noun, before.id, before.credentials, secrets)  # type: ignore[attr-defined]
        after = rows.save(transaction, build(credentials), unused=unused)
        if _name_key(rows, before) != _name_key(rows, after):
            self.claims.release(transaction, _name_key(rows, before), before.id)
            self.claims.take(transaction, _name_key(rows, after), after.id, label="name")
        self.audit.record(transaction, context, f"{rows.noun}.update", after.id, before=view(before), after=view(after))
        try:
            transaction.commit()
        except WriteConflict as conflict:
            if unused and rows.references(before.id):
                raise in_use(rows.noun) from conflict
            raise _update_error(context, rows, conflict.label) from conflict
        return after

    def delete(self, context: RequestContext, rows: Documents[N], entity: N, *, links: Links = NO_LINKS) -> None:
        """Remove a thing that nothing points at. Raises Conflict RESOURCE_IN_USE, VersionMismatch."""
        expect_version(context, entity.version)
        transaction = Transaction()
        rows.remove(transaction, entity)
        self.claims.release(transaction, _name_key(rows, entity), entity.id)
        self.unlink(transaction, entity.id, links)
        if credentials := getattr(entity, "credentials", None):
            self.vault.remove(transaction, credentials)
        self.audit.record(transaction, context, f"{rows.noun}.delete", entity.id, before=view(entity))
        try:
            transaction.commit()
        except WriteConflict as conflict:
            raise self._delete_error(context, rows, entity.id) from conflict

    def unlink(self, transaction: Transaction, entity_id: str, links: Links) -> None:
        """Give back what an entity hung on."""
        for key in links.claims:
            self.claims.release(transaction, key, entity_id)
        for referred, referred_id in links.references:
            referred.refer(transaction, referred_id, -1)

    def release_name(self, transaction: Transaction, rows: Documents[N], entity: N) -> None:
        """Make the entity's name free again, for removals that have steps of their own."""
        self.claims.release(transaction, _name_key(rows, entity), entity.id)

    def _delete_error(self, context: RequestContext, rows: Documents[N], entity_id: str) -> HeadgateError:
        stored = rows.find(entity_id)
        if stored is None:
            return NotFound(f"There is no {rows.noun} with this id.")
        if rows.references(entity_id):
            return in_use(rows.noun)
        return _update_error(context, rows, f"{rows.noun}.changed")


def expect_version(context: RequestContext, version: int) -> None:
    """Raise VersionMismatch when the client says that it saw another version."""
    if context.if_match is not None and context.if_match != version:
        raise VersionMismatch("It has changed since you read it. Read it again and repeat your change.")


def in_use(noun: str) -> Conflict:
    """The answer to whoever wants to delete what others need."""
    return Conflict(f"This {noun.replace('_', ' ')} is in use. Delete what uses it first.", code="RESOURCE_IN_USE")


def _name_key(rows: Documents[Any], entity: Named) -> str:
    return f"name/{rows.noun}/{unique_key(entity.name)}"


def _create_error(rows: Documents[Any], label: str) -> HeadgateError:
    if label.endswith(".missing"):
        noun = label.removesuffix(".missing").replace("_", " ")
        return Invalid(f"The {noun} that this refers to does not exist.", code="REFERENCE_NOT_FOUND")
    if label == "name":
        return Conflict(f"Another {rows.noun.replace('_', ' ')} has this name.", code="NAME_CONFLICT")
    if label.endswith(".exists"):
        return Conflict("The same request is being carried out at this moment.", code="REQUEST_IN_PROGRESS")
    return Conflict(f"Another {rows.noun.replace('_', ' ')} uses this {label}.", code="NAME_CONFLICT")


def _update_error(context: RequestContext, rows: Documents[Any], label: str) -> HeadgateError:
    if label == "name":
        return Conflict(f"Another {rows.noun.replace('_', ' ')} has this name.", code="NAME_CONFLICT")
    message = "It was changed by somebody else at the same moment. Read it again and repeat your change."
    return VersionMismatch(message) if context.if_match is not None else Conflict(message)
