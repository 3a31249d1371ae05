"""The store of one kind of entity: read by id, listed newest first, written conditionally."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from itertools import islice
from typing import Any, ClassVar, Generic, Protocol, TypeVar

from pynamodb.expressions.condition import Condition
from pynamodb.pagination import PageIterator

from chalicelib.domain.plans.dry_run import current_plan
from chalicelib.errors import NotFound, StoreUnavailable, TimedOut, UnreadableRow
from chalicelib.kit.adapters import adapter
from chalicelib.kit.clock import Deadline
from chalicelib.kit.pages import Page, page_of
from chalicelib.stores.rows import ROWS_PER_CALL, Key, read_rows
from chalicelib.stores.tables import LISTING, Document, body_size, position, position_of, store_errors
from chalicelib.stores.transaction import Transaction
from chalicelib.stores.unreadable import raw_fields, read_row, readable, readable_page


class Entity(Protocol):
    @property
    def id(self) -> str: ...
    @property
    def revision(self) -> int: ...
    @property
    def created_at(self) -> Any: ...


E = TypeVar("E", bound=Entity)
T = TypeVar("T")

_FILTERED_PAGE = 1_000
"""Rows that one call reads when a condition selects from them: two active incidents may be months apart."""


_FILTERED_CALLS = 20
"""Each reads at most 1 MB (a limit of DynamoDB), so that one request reads at most 20 MB."""

_OLDEST_TRIED = 10
"""Rows that `oldest_in` reads one after another, until one can be read."""


class Readable(Protocol):
    """A store whose rows can be read in one call with those of others. `decode` gets None for a row that is missing.
    It raises UnreadableRow.
    """

    def key(self, entity_id: Any, /) -> Key: ...
    def decode(self, row: Any, /) -> Any: ...


def batch_read(*keys: tuple[Readable, Any]) -> list[Any]:
    """Rows of several stores by id, in the order of the arguments: one call for each hundred. Consistent."""
    return read_rows(*(store.key(entity_id) for store, entity_id in keys))


def batch_find(*keys: tuple[Readable, Any]) -> list[Any]:
    """The entities in the rows that `batch_read` reads, None for each that does not exist. Raises UnreadableRow."""
    return [store.decode(row) for (store, _), row in zip(keys, batch_read(*keys), strict=True)]


def batch_results(*keys: tuple[Readable, Any]) -> list[Any]:
    """The same with an UnreadableRow in place of each row that cannot be read: for rows that do not need each other."""
    return [_result(store, row) for (store, _), row in zip(keys, batch_read(*keys), strict=True)]


def require_readable(result: T | UnreadableRow) -> T:
    """One of the `batch_results`. Raises it when it is an UnreadableRow."""
    if isinstance(result, UnreadableRow):
        raise result
    return result


def batch_find_readable(*keys: tuple[Readable, Any]) -> list[Any]:
    """The same with None in place of each row that cannot be read. Not for a decision that depends on whether a row
    exists: see `batch_exists`.
    """
    return [None if isinstance(result, UnreadableRow) else result for result in batch_results(*keys)]


def batch_exists(*keys: tuple[Readable, Any]) -> list[bool]:
    """Whether these rows exist, also those that cannot be read. One call for each hundred. Consistent."""
    return [row is not None for row in batch_read(*keys)]


def _result(store: Readable, row: Any) -> Any:
    try:
        return store.decode(row)
    except UnreadableRow as error:
        return error


class Documents(Generic[E]):
    """A table of entities of one type. `noun` names the type in messages, labels and audit actions.

    A row that this release cannot read is left out of lists, and raises UnreadableRow where it is asked for by its id.
    """

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
        """The entity, or None. Consistent. Raises UnreadableRow."""
        return self.decode(*read_rows(self.key(entity_id)))

    def find_readable(self, entity_id: str) -> E | None:
        """The entity; None also when it cannot be read."""
        with suppress(UnreadableRow):
            return self.find(entity_id)
        return None

    def get(self, entity_id: str) -> E:
        """Raises NotFound, UnreadableRow."""
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
        is one on columns of the row. Then one call reads many rows, and a page may have few entries, or none, although
        the list goes on: what one request reads is bounded.
        """
        index = getattr(self.table, f"by_{group}")
        keys = index.Meta.attributes["position"] < after if after else None
        body = body_size if by_size else None
        with store_errors():
            if condition is not None:
                rows = index.query(value, keys, condition, scan_index_forward=False, page_size=_FILTERED_PAGE)
                page = self._selected(rows.page_iter, limit, body)
            else:
                # One row more than the page needs: it shows whether the list goes on.
                rows = index.query(value, keys, scan_index_forward=False, limit=limit + 1, page_size=limit + 1)
                page = page_of(rows, key=position_of, limit=limit, size=body)
        if group in self.table.COMPACT:
            return page.with_items(self.with_ids(row.id for row in page.items))
        return readable_page(page, self._stored)

    def _selected(self, calls: PageIterator[Any], limit: int, size: Callable[[Any], int] | None) -> Page[Any]:
        """The page of the rows that fulfil a condition, from a bounded number of calls. Where these end before the
        list, it goes on behind the last row that they have read.
        """
        rows = (self.table.from_raw_data(item) for call in islice(calls, _FILTERED_CALLS) for item in call["Items"])
        page, last = page_of(rows, key=position_of, limit=limit, size=size), calls.last_evaluated_key
        return page if page.more or last is None else replace(page, more=True, last_key=last["position"]["S"])

    def ids(self) -> Iterator[str]:
        """The ids of all, also of those that cannot be read; newest first, without a bound: for workers only."""
        with store_errors():
            index = getattr(self.table, f"by_{LISTING}")
            for row in index.query(self.noun, scan_index_forward=False, attributes_to_get=["id"]):
                yield row.id

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
                yield from readable(rows, self._stored)

    def read_in(self, group: str, value: str) -> tuple[Sequence[E], Sequence[Mapping[str, Any]]]:
        """`all_in`, and the raw fields of those that cannot be read, for decisions that must not overlook them. Not for
        groups of `COMPACT`.
        """
        entities, unreadable = list[E](), list[Mapping[str, Any]]()
        with store_errors():
            index = getattr(self.table, f"by_{group}")
            for row in index.query(value, scan_index_forward=False, attributes_to_get=["id", "body"]):
                try:
                    entities.append(self._stored(row))
                except UnreadableRow:
                    unreadable.append(raw_fields(row.body))
        return entities, unreadable

    def oldest_in(self, group: str, value: str) -> E | None:
        """The oldest with that value in the group, leaving out rows that cannot be read, of which it tries a few;
        None when there is none. Not for groups of `COMPACT`.
        """
        with store_errors():
            rows = getattr(self.table, f"by_{group}").query(value, limit=_OLDEST_TRIED, page_size=1)
            return next(readable(rows, self._stored), None)

    def with_ids(self, entity_ids: Iterable[str]) -> Iterator[E]:
        """The entities that exist, in the order of the ids: one call for each hundred. Consistent."""
        ids = iter(entity_ids)
        while batch := list(islice(ids, ROWS_PER_CALL)):
            yield from readable(filter(None, read_rows(*map(self.key, batch))), self._stored)

    def columns_in(self, group: str, value: str, deadline: Deadline) -> Iterator[tuple[str, Mapping[str, str | None]]]:
        """The id and the copied fields of all with that value in the group: a body may have 50 KB, they have 100 bytes.

        Raises TimedOut after the deadline.
        """
        copied = self.table.COPIED
        for row in self._rows_in(group, value, ["id", *copied], deadline):
            yield row.id, {field: getattr(row, field) for field in copied}

    def _rows_in(self, group: str, value: str, columns: Sequence[str], deadline: Deadline) -> Iterator[Any]:
        """All rows with that value in the group, with these columns only. Raises TimedOut after the deadline."""
        with store_errors():
            for row in getattr(self.table, f"by_{group}").query(value, attributes_to_get=columns):
                if deadline.passed:
                    raise TimedOut("The store did not list everything in time.")
                yield row

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
        for name in (*self.groups(entity), *self.table.COPIED, *self.table.SEARCHED):
            value, column = getattr(row, name), getattr(self.table, name)
            actions.append(column.set(value) if value is not None else column.remove())
        closing, condition = self.table.closing, self.table.revision == entity.revision
        # References are counted by ADD, without a new revision, so that the revision does not cover them.
        if unused or self.closing(entity):
            condition = condition & self._unused()
        elif references is not None:
            condition = condition & (self.table.references == references if references else self._unused())
        actions.append(closing.set(True) if self.closing(entity) else closing.remove())
        transaction.update(row, actions, condition=condition, label=f"{self.noun}.changed")
        return saved

    def save_alone(self, entity: E) -> E:
        """`save` in a transaction of its own. Raises WriteConflict. In a dry run the result is what was given."""
        with Transaction() as transaction:
            saved = self.save(transaction, entity)
        return entity if current_plan() else saved

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
        return self.table(
            entity.id,
            position=position(entity.created_at, entity.id),
            body=adapter(self.entity).dump_json(entity).decode(),
            revision=entity.revision,
            write_id=write_id,
            expires_at=self.expires_at(entity),
            **groups,
            **self._copied(entity),
        )

    def _copied(self, entity: E) -> dict[str, Any]:
        values = {field: self._column(entity, field) for field in (*self.table.COPIED, *self.table.SEARCHED)}
        return {field: str(value) for field, value in values.items() if value is not None}

    def _column(self, entity: E, field: str) -> Any:
        """The value of a column that the table has beside its body; None: none."""
        return getattr(entity, field)

    def from_row(self, row: Document) -> E:
        entity: E = adapter(self.entity).validate_json(row.body)
        return entity

    def key(self, entity_id: str) -> Key:
        return self.table, entity_id

    def decode(self, row: Document | None) -> E | None:
        """The entity in a row that was read by `key`; None when there was none. Raises UnreadableRow."""
        return self._stored(row) if row else None

    def is_whole(self, row: Document) -> bool:
        """Whether the row can be read, and its columns say what its body says."""
        with suppress(UnreadableRow):
            copied = self._copied(self._stored(row))
            return all(getattr(row, field) == copied.get(field) for field in self.table.COPIED)
        return False

    def _stored(self, row: Document) -> E:
        return read_row(self.noun, row.id, lambda: self.from_row(row))
