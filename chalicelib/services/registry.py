"""Writing entities with unique names: names, references, secrets and audit change in one transaction."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Protocol, TypeVar

from chalicelib.domain.access import RequestContext
from chalicelib.domain.audit.view import view
from chalicelib.domain.names import unique_key
from chalicelib.domain.plans.of_registered import of_deletion
from chalicelib.domain.plans.plan import Consequence
from chalicelib.domain.registered import Registered
from chalicelib.domain.usage import UsedBy, used_by
from chalicelib.errors import Conflict, HeadgateError, Invalid, NotFound, VersionMismatch, WriteConflict, fault
from chalicelib.services.audit.trail import AuditTrail
from chalicelib.services.credentials import CredentialVault
from chalicelib.services.incidents import IncidentService
from chalicelib.services.usage import Usage
from chalicelib.stores.claims import Claims
from chalicelib.stores.connections import Connections
from chalicelib.stores.documents import Documents, Entity
from chalicelib.stores.transaction import Transaction


class Named(Entity, Protocol):
    """An entity with a unique name. `version` counts the changes that people made, `revision` all writes."""

    @property
    def name(self) -> str: ...
    @property
    def version(self) -> int: ...


_CONNECTION_CHANGED = f"{Connections.noun}.changed"
"""The conflict label of the write of a connection."""

N = TypeVar("N", bound=Named)
E = TypeVar("E", bound=Registered[Any])


@dataclass(frozen=True, slots=True, kw_only=True)
class Links:
    """What an entity refers to (the referred entity counts it), and its claims besides its name, by key.

    The value of a claim is its name in error messages; `codes` are the codes of those errors, by that name, where it is
    not NAME_CONFLICT. `revisions` are those of referred entities that must not have
    been written since they were read, by id.
    """

    references: Sequence[tuple[Documents[Any], str]] = ()
    claims: Mapping[str, str] = field(default_factory=dict)
    codes: Mapping[str, str] = field(default_factory=dict)
    revisions: Mapping[str, int] = field(default_factory=dict)


NO_LINKS = Links()
_NAME_CONFLICT = "NAME_CONFLICT"


@dataclass(frozen=True, slots=True, kw_only=True)
class Registry:
    """Writes entities with unique names."""

    claims: Claims
    vault: CredentialVault
    audit: AuditTrail
    incidents: IncidentService
    usage: Usage

    def create(
        self,
        transaction: Transaction,
        context: RequestContext,
        store: Documents[N],
        entity: N,
        *,
        links: Links = NO_LINKS,
        consequences: Sequence[Consequence] = (),
    ) -> N:
        """Store a new entity, and commit the transaction.

        Raises Conflict NAME_CONFLICT, Invalid REFERENCE_NOT_FOUND; WriteConflict for another of the `revisions`, and
        when a connection in the transaction was written since it was read.

        When the same request has created it before (and its answer was lost), returns what is stored.
        """
        entity = store.put_new(transaction, entity)
        self.claims.take(transaction, _name_key(store, entity), entity.id, label="name")
        for key, label in links.claims.items():
            self.claims.take(transaction, key, entity.id, label=label)
        for referred, referred_id in links.references:
            referred.change_references(transaction, referred_id, +1, revision=links.revisions.get(referred_id))
        self.audit.record(
            transaction,
            context,
            f"{store.noun}.create",
            entity.id,
            after=view(entity),
            consequences=consequences,
        )
        try:
            transaction.commit()
        except WriteConflict as conflict:
            if context.request_key == entity.id and (stored := store.find(entity.id)):
                return stored
            raise self._create_error(store, entity, links, conflict) from conflict
        return entity

    def update(
        self,
        transaction: Transaction,
        context: RequestContext,
        store: Documents[N],
        before: N,
        after: N,
        *,
        unused: bool = False,
        references: int | None = None,
        consequences: Sequence[Consequence] = (),
    ) -> N:
        """Replace a stored entity, and commit the transaction: see `write_update`.

        Raises Conflict RESOURCE_IN_USE, NAME_CONFLICT, VersionMismatch; WriteConflict when a connection in the
        transaction was written since it was read, or the entity by nobody but a monitor or a test.
        """
        conditions: Any = {"unused": unused, "references": references, "consequences": consequences}
        after = self.write_update(transaction, context, store, before, after, **conditions)
        try:
            transaction.commit()
        except WriteConflict as conflict:
            raise self._update_error(context, store, before, after, conflict, unused=unused) from conflict
        return after

    def write_update(
        self,
        transaction: Transaction,
        context: RequestContext,
        store: Documents[N],
        before: N,
        after: N,
        *,
        unused: bool = False,
        references: int | None = None,
        consequences: Sequence[Consequence] = (),
    ) -> N:
        """Replace a stored entity in the transaction. With `unused` nothing may refer to it, with `references` exactly
        so many. The result has the new revision.
        """
        after = store.save(transaction, after, unused=unused, references=references)
        if _name_key(store, before) != _name_key(store, after):
            self.release_name(transaction, store, before)
            self.claims.take(transaction, _name_key(store, after), after.id, label="name")
        self.audit.record(
            transaction,
            context,
            f"{store.noun}.update",
            after.id,
            before=view(before),
            after=view(after),
            consequences=consequences,
        )
        return after

    def delete(
        self,
        context: RequestContext,
        store: Documents[E],
        entity: E,
        *,
        links: Links = NO_LINKS,
        also: Callable[[Transaction, E], None] = lambda _transaction, _entity: None,
    ) -> None:
        """Remove what was registered: see `remove`. Its secrets go with it, and its incidents are over; `also` writes
        what that means elsewhere.
        """
        transaction = Transaction()
        also(transaction, entity)
        if entity.credentials.belong_to(store.noun, entity.id):  # else they are those of its connection
            self.vault.remove(transaction, entity.credentials)
        self.incidents.end_about(transaction, entity.id)
        consequences = tuple(of_deletion(store.noun, entity))
        self.remove(transaction, context, store, entity, links=links, consequences=consequences)

    def remove(
        self,
        transaction: Transaction,
        context: RequestContext,
        store: Documents[N],
        entity: N,
        *,
        links: Links = NO_LINKS,
        consequences: Sequence[Consequence] = (),
    ) -> None:
        """Remove an entity that nothing refers to, and commit the transaction.

        Raises Conflict RESOURCE_IN_USE, VersionMismatch, NotFound; WriteConflict when a connection in the transaction
        was written since it was read, or the entity by nobody but a monitor or a test.
        """
        store.remove(transaction, entity)
        self.release_name(transaction, store, entity)
        self.unlink(transaction, entity.id, links)
        self.audit.record(
            transaction,
            context,
            f"{store.noun}.delete",
            entity.id,
            before=view(entity),
            consequences=consequences,
        )
        try:
            transaction.commit()
        except WriteConflict as conflict:
            raise self._delete_error(context, store, entity, conflict) from conflict

    def unlink(self, transaction: Transaction, entity_id: str, links: Links) -> None:
        """Release the claims and count down the references of an entity that is being removed."""
        for key in links.claims:
            self.claims.release(transaction, key, entity_id)
        for referred, referred_id in links.references:
            referred.change_references(transaction, referred_id, -1)

    def release_name(self, transaction: Transaction, store: Documents[N], entity: N) -> None:
        """Make the entity's name free again."""
        self.claims.release(transaction, _name_key(store, entity), entity.id)

    def holders(self, store: Documents[N], keys: Sequence[str]) -> Mapping[str, UsedBy]:
        """The entities that hold claims, by key; keys that nobody holds are left out."""
        found = self.claims.holders(keys)
        entities = {entity_id: store.find_readable(entity_id) for entity_id in set(found.values())}
        readable = {entity_id: used_by(store.noun, entity) for entity_id, entity in entities.items() if entity}
        return {key: readable[holder] for key, holder in found.items() if holder in readable}

    def claim_error(self, store: Documents[N], links: Links) -> Conflict | None:
        """The error for the first of these claims that another entity holds, None while all are free."""
        for key, holder in self.holders(store, list(links.claims)).items():
            return claim_conflict(store.noun, holder, links.claims[key], links.codes)
        return None

    def name_conflict(self, store: Documents[N], entity: N) -> Conflict:
        """The error for a name that another entity of this kind has; it says which."""
        holder = self.holders(store, [_name_key(store, entity)]).get(_name_key(store, entity))
        return name_conflict(store.noun, holder)

    def _create_error(self, store: Documents[N], entity: N, links: Links, conflict: WriteConflict) -> HeadgateError:
        label = conflict.label
        for referred, referred_id in links.references:
            if label == f"{referred.noun}.missing" and referred_id in links.revisions and referred.find(referred_id):
                return conflict
        if _is_of_a_connection(store, conflict):
            return conflict
        claims = {key: name for key, name in links.claims.items() if name == label}
        if claimed := self.claim_error(store, replace(links, claims=claims)):
            return claimed
        if label == "name":
            return self.name_conflict(store, entity)
        return _create_error(store, label, links.codes)

    def _update_error(
        self,
        context: RequestContext,
        store: Documents[N],
        before: N,
        after: N,
        conflict: WriteConflict,
        *,
        unused: bool,
    ) -> HeadgateError:
        label = conflict.label
        if _is_of_a_connection(store, conflict):
            return conflict
        if unused and store.references(after.id):
            return self.usage.in_use(store.noun, after.id)
        if label == "name":
            return self.name_conflict(store, after)
        if _is_observed(before, store.find(before.id)):
            return conflict
        return reference_not_found(_noun_of(label)) if label.endswith(".missing") else _changed(context)

    def _delete_error(
        self, context: RequestContext, store: Documents[N], entity: N, conflict: WriteConflict
    ) -> HeadgateError:
        if _is_of_a_connection(store, conflict):
            return conflict
        stored = store.find(entity.id)
        if stored is None:
            return NotFound(f"There is no {store.noun} with this id.")
        if store.references(entity.id):
            return self.usage.in_use(store.noun, entity.id)
        if _is_observed(entity, stored):
            return conflict
        return _changed(context)


def reference_not_found(noun: str, *location: str) -> Invalid:
    """The error for a reference to something that does not exist; with its location where that is one field."""
    message = f"The {noun} that this refers to does not exist. The list of them shows their ids."
    details = [fault(*location, type_="not_found", message=message)] if location else None
    return Invalid(message, code="REFERENCE_NOT_FOUND", details=details)


def claim_conflict(noun: str, holder: UsedBy, what: str, codes: Mapping[str, str]) -> Conflict:
    """The error for what this entity uses already."""
    message = f'The {_words(noun)} "{holder.name}" uses this {what}. Choose another one.'
    return Conflict(message, code=codes.get(what, _NAME_CONFLICT), details={"resource": asdict(holder)})


def _words(noun: str) -> str:
    return noun.replace("_", " ")


def _name_key(store: Documents[Any], entity: Named) -> str:
    return f"name/{store.noun}/{unique_key(entity.name)}"


def _create_error(store: Documents[Any], label: str, codes: Mapping[str, str]) -> HeadgateError:
    if label.endswith(".missing"):
        return reference_not_found(_noun_of(label))
    if label.endswith(".exists"):
        return Conflict(
            "The same request is being carried out at this moment. Repeat this in a few seconds.",
            code="REQUEST_IN_PROGRESS",
        )
    return Conflict(
        f"Another {_words(store.noun)} uses this {label}. Choose another one.", code=codes.get(label, _NAME_CONFLICT)
    )


def name_conflict(noun: str, holder: UsedBy | None) -> Conflict:
    """The error for a name that another entity of this kind has: this one, unless it is gone again."""
    message = f"Another {_words(noun)} has this name, in whatever case. Choose another name."
    details = {"resource": asdict(holder)} if holder else None
    return Conflict(message, code=_NAME_CONFLICT, details=details)


def _is_of_a_connection(store: Documents[Any], conflict: WriteConflict) -> bool:
    """Whether the connection that an entity of this kind points at was written meanwhile: it is tried again."""
    return _CONNECTION_CHANGED in conflict.labels and store.noun != Connections.noun


def _is_observed(read: Named, stored: Named | None) -> bool:
    """Whether monitors and tests have written it since it was read, and no person has."""
    return stored is not None and stored.version == read.version and stored.revision != read.revision


def _noun_of(label: str) -> str:
    return _words(label.removesuffix(".missing"))


def _changed(context: RequestContext) -> HeadgateError:
    message = "It was changed by somebody else at the same moment. Read it again and repeat your change."
    return VersionMismatch(message) if context.if_match is not None else Conflict(message)
