"""The store of one kind of entity: read by id, listed newest first, written conditionally."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from datetime import datetime
from itertools import islice
from typing import Any, ClassVar, Generic, Protocol, TypeVar

from pynamodb.expressions.condition import Condition

from chalicelib.errors import NotFound, StoreUnavailable, TimedOut
from chalicelib.kit.adapters import adapter
from chalicelib.kit.clock import Deadline
from chalicelib.kit.pages import Page, page_of
from chalicelib.stores.rows import ROWS_PER_CALL, Key, read_rows
from chalicelib.stores.tables import LISTING, Document, body_size, position, position_of, store_errors
from chalicelib.stores.transaction import Transaction


class Entity(Protocol):
    @property
    def id(self) -> str: ...
    @property
    def revision(self) -> int: ...
    @property
    def created_at(self) -> Any: ...


E = TypeVar("E", bound=Entity)

_FILTERED_PAGE = 1_000
"""Rows that one call reads when a condition selects from them: two active incidents may be months apart."""


class Readable(Protocol):
    """A store whose rows can be read in one call with those of others. `decode` gets None for a row that is missing."""

    def key(self, entity_id: Any, /) -> Key: ...
    def decode(self, row: Any, /) -> Any: ...


def batch_read(*keys: tuple[Readable, Any]) -> list[Any]:
    """Rows of several stores by id, in the order of the arguments: one call for each hundred. Consistent."""
    return read_rows(*(store.key(entity_id) for store, entity_id in keys))


def batch_find(*keys: tuple[Readable, Any]) -> list[Any]:
    """The entities in the rows that `batch_read` reads."""
    return [store.decode(row) for (store, _), row in zip(keys, batch_read(*keys), strict=True)]


class Documents(Generic[E]):
    """A table of entities of one type. `noun` names the type in messages, labels and audit actions."""

    table: ClassVar[type[Document]]
    entity: type[E]
    noun: ClassVar[str]

    def groups(self, entity: E) -> Mapping[str, str | None]:
        """The entity's value in each index besides the list of all; an entity with None is not in that index."""
        return {name: getattr(entity, name) for name in self.table.GROUPS}

    def expires_at(self, entity: E) -> datetime | None:
        """When DynamoDB may delete the row; None: never."""
        return None

    def closing(self, entity: E) -> bool:
        """Whether the entity is being deleted in several steps, and must not be referred to any more."""
        return False

    def find(self, entity_id: str) -> E | None:
        """The entity, or None. Consistent."""
        return self.decode(*read_rows(self.key(entity_id)))

    def get(self, entity_id: str) -> E:
        """Raises NotFound."""
        entity = self.find(entity_id)
        if entity is None:
            raise NotFound(f"There is no {self.noun} with this id.")
        return entity

    def answers(self) -> bool:
        """Whether the table exists and can be read."""
        try:
            self.find("ready")
        except StoreUnavailable:
            return False
        return True

    def references(self, entity_id: str) -> int:
        """The number of entities that point at it; 0 when it does not exist."""
        (row,) = read_rows(self.key(entity_id))
        return int(row.references) if row else 0

    def list(self, *, limit: int, after: str | None = None, by_size: bool = False) -> Page[E]:
        """One page of all, newest first. See `list_in`."""
        return self.list_in(LISTING, self.noun, limit=limit, after=after, by_size=by_size)

    def list_in(
        self,
        group: str,
        value: str,
        *,
        limit: int,
        after: str | None = None,
        by_size: bool = False,
        condition: Condition | None = None,
    ) -> Page[E]:
        """The entities with that value in the group, newest first: at most `limit`, behind `after` (a page's
        `next_key`).

        With `by_size` the page also ends when its rows reach `PAGE_BYTES`: for lists that a client gets. `condition`
        is one on columns of the row; then one call reads many rows.
        """
        index = getattr(self.table, f"by_{group}")
        keys = index.Meta.attributes["position"] < after if after else None
        # One row more than the page needs: it shows whether the list goes on.
        size = limit + 1 if condition is None else max(limit + 1, _FILTERED_PAGE)
        with store_errors():
            rows = index.query(value, keys, condition, scan_index_forward=False, limit=limit + 1, page_size=size)
            page = page_of(rows, key=position_of, limit=limit, size=body_size if by_size else None)
        if group in self.table.COMPACT:
            return page.with_items(self.with_ids(row.id for row in page.items))
        return page.map(self.from_row)

    def all(self) -> Iterator[E]:
        """Newest first, without a bound: for workers only."""
        return self.all_in(LISTING, self.noun)

    def all_in(self, group: str, value: str) -> Iterator[E]:
        """All with that value in the group, newest first, without a bound: for workers only."""
        with store_errors():
            # Of thousands of rows, reading the other columns takes longer than reading the bodies.
            compact = group in self.table.COMPACT
            columns = ["id"] if compact else ["id", "body"]
            index = getattr(self.table, f"by_{group}")
            rows = index.query(value, scan_index_forward=False, attributes_to_get=columns)
            if compact:
                yield from self.with_ids(row.id for row in rows)
            else:
                yield from map(self.from_row, rows)

    def oldest_in(self, group: str, value: str) -> E | None:
        """The oldest with that value in the group; None when there is none. Not for groups of `COMPACT`."""
        with store_errors():
            rows = getattr(self.table, f"by_{group}").query(value, limit=1)
            return next(map(self.from_row, rows), None)

    def with_ids(self, entity_ids: Iterable[str]) -> Iterator[E]:
        """The entities that exist, in the order of the ids: one call for each hundred. Consistent."""
        ids = iter(entity_ids)
        while batch := list(islice(ids, ROWS_PER_CALL)):
            yield from filter(None, map(self.decode, read_rows(*map(self.key, batch))))

    def columns_in(self, group: str, value: str, deadline: Deadline) -> Iterator[tuple[str, Mapping[str, str | None]]]:
        """The id and the copied fields of all with that value in the group: a body may have 50 KB, they have 100 bytes.

        Raises TimedOut after the deadline.
        """
        copied = self.table.COPIED
        with store_errors():
            for row in getattr(self.table, f"by_{group}").query(value, attributes_to_get=["id", *copied]):
                if deadline.passed:
                    raise TimedOut("The store did not list everything in time.")
                yield row.id, {field: getattr(row, field) for field in copied}

    def put_new(self, transaction: Transaction, entity: E) -> E:
        """Store an entity that does not exist yet; returns it. Conflict label: `<noun>.exists`."""
        row = self._row(entity, transaction.write_id)
        transaction.put(row, condition=self.table.id.does_not_exist(), label=f"{self.noun}.exists")
        return entity

    def save(self, transaction: Transaction, entity: E, *, unused: bool = False, references: int | None = None) -> E:
        """Replace the stored entity, if nothing was written since it was read. The result has the new revision.

        With `unused`, and when the entity begins to close, no other entity may point at it; with `references` exactly
        so many have to. Conflict label: `<noun>.changed`.
        """
        saved = replace(entity, revision=entity.revision + 1)  # type: ignore[type-var]
        row = self._row(saved, transaction.write_id)
        actions = [self.table.body.set(row.body), self.table.revision.set(row.revision)]
        actions.append(self.table.write_id.set(transaction.write_id))
        expires_at, expiry = self.expires_at(entity), self.table.expires_at
        actions.append(expiry.remove() if expires_at is None else expiry.set(expires_at))
        for name in (*self.groups(entity), *self.table.COPIED):
            value, column = getattr(row, name), getattr(self.table, name)
            actions.append(column.set(value) if value is not None else column.remove())
        closing, condition = self.table.closing, self.table.revision == entity.revision
        # References are counted by ADD, without a new revision, so that the revision does not cover them.
        if unused or self.closing(entity):
            condition = condition & self._unused()
        elif references:
            condition = condition & (self.table.references == references)
        actions.append(closing.set(True) if self.closing(entity) else closing.remove())
        transaction.update(row, actions, condition=condition, label=f"{self.noun}.changed")
        return saved

    def save_alone(self, entity: E) -> E:
        """`save` in a transaction of its own. Raises WriteConflict."""
        with Transaction() as transaction:
            return self.save(transaction, entity)

    def remove(self, transaction: Transaction, entity: E) -> None:
        """Delete it, if nothing was written since it was read and no other entity points at it.

        Conflict label: `<noun>.removable`.
        """
        unchanged = (self.table.revision == entity.revision) & self._unused()
        row = self._row(entity, transaction.write_id)
        transaction.delete(row, condition=unchanged, label=f"{self.noun}.removable")

    def change_references(
        self, transaction: Transaction, entity_id: str, change: int, *, revision: int | None = None
    ) -> None:
        """Count one reference more (+1) or less (-1) of an existing entity; `revision`: only at that revision.

        Conflict label: `<noun>.missing`.
        """
        exists = self.table.id.exists() if revision is None else self.table.revision == revision
        if change > 0:
            exists = exists & self.table.closing.does_not_exist()
        references = self.table.references.add(change)
        transaction.update(self.table(entity_id), [references], condition=exists, label=f"{self.noun}.missing")

    def _unused(self) -> Condition:
        unused: Condition = (self.table.references == 0) | self.table.references.does_not_exist()
        return unused

    def _row(self, entity: E, write_id: str) -> Document:
        groups: dict[str, Any] = {LISTING: self.noun, **self.groups(entity)}
        values = {field: getattr(entity, field) for field in self.table.COPIED}
        copied: dict[str, Any] = {field: str(value) for field, value in values.items() if value is not None}
        return self.table(
            entity.id,
            position=position(entity.created_at, entity.id),
            body=adapter(self.entity).dump_json(entity).decode(),
            revision=entity.revision,
            write_id=write_id,
            expires_at=self.expires_at(entity),
            **groups,
            **copied,
        )

    def from_row(self, row: Document) -> E:
        entity: E = adapter(self.entity).validate_json(row.body)
        return entity

    def key(self, entity_id: str) -> Key:
        return self.table, entity_id

    def decode(self, row: Document | None) -> E | None:
        """The entity in a row that was read by `key`; None when there was none."""
        return self.from_row(row) if row else None
