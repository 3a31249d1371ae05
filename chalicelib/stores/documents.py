"""The store of one kind of entity: read by id, listed newest first, written conditionally."""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime
from itertools import islice
from typing import Any, ClassVar, Generic, Protocol, TypeVar

from pynamodb.expressions.condition import Condition

from chalicelib.errors import NotFound, StoreUnavailable, TimedOut
from chalicelib.kit.adapters import adapter
from chalicelib.kit.clock import Deadline
from chalicelib.kit.pages import Page, page_of
from chalicelib.stores.counts import Counts
from chalicelib.stores.rows import ROWS_PER_CALL, Key, read_rows
from chalicelib.stores.tables import LISTING, Document, body_size, position, position_of
from chalicelib.stores.transaction import STORE_ERRORS, Transaction


class Entity(Protocol):
    """What an entity needs to be stored as a document."""

    @property
    def id(self) -> str: ...
    @property
    def revision(self) -> int: ...
    @property
    def created_at(self) -> Any: ...


E = TypeVar("E", bound=Entity)

_FILTERED = 1_000
"""Rows that one call reads to find those that a condition holds for: two active incidents may be months apart."""


@contextmanager
def store_errors() -> Iterator[None]:
    """Whatever the table's client raises becomes `StoreUnavailable`."""
    try:
        yield
    except STORE_ERRORS as error:
        raise StoreUnavailable("The store did not answer.") from error


class Readable(Protocol):
    """A store whose entities can be read together with those of others. `found` gets None for a row that is missing."""

    def key(self, entity_id: Any, /) -> Key: ...
    def found(self, row: Any, /) -> Any: ...


def read_together(*asked: tuple[Readable, Any]) -> list[Any]:
    """Rows of several stores by id, in the order of the arguments: one call for each hundred. Consistent."""
    with store_errors():
        return read_rows(*(store.key(entity_id) for store, entity_id in asked))


def find_together(*asked: tuple[Readable, Any]) -> list[Any]:
    """The entities in the rows that `read_together` reads."""
    rows = read_together(*asked)
    with store_errors():
        return [store.found(row) for (store, _), row in zip(asked, rows, strict=True)]


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

    def counted_as(self, entity: E) -> str | None:
        """The state under which the overview counts it; None: it is not counted.

        An entity that is counted has a field `counted`: the state under which it was counted when it was written last.
        """
        return None

    def find(self, entity_id: str) -> E | None:
        """The entity, or None. Consistent."""
        with store_errors():
            return self.found(*read_rows(self.key(entity_id)))

    def get(self, entity_id: str) -> E:
        """The entity; raises NotFound."""
        found = self.find(entity_id)
        if found is None:
            raise NotFound(f"There is no {self.noun} with this id.")
        return found

    def answers(self) -> bool:
        """Whether the table exists and can be read."""
        try:
            self.find("ready")
        except StoreUnavailable:
            return False
        return True

    def references(self, entity_id: str) -> int:
        """How many others point at it; 0 when it does not exist."""
        with store_errors():
            (row,) = read_rows(self.key(entity_id))
        return int(row.references) if row else 0

    def list(self, *, limit: int, after: str | None = None, by_size: bool = False) -> Page[E]:
        """All of them, newest first. See `list_in`."""
        return self.list_in(LISTING, self.noun, limit=limit, after=after, by_size=by_size)

    def list_in(
        self,
        group: str,
        value: str,
        *,
        limit: int,
        after: str | None = None,
        by_size: bool = False,
        only: Condition | None = None,
    ) -> Page[E]:
        """Those whose group has that value, newest first: at most `limit`, behind `after` (a page's `next_key`).

        With `by_size` the page also ends when its rows reach `PAGE_BYTES`: for lists that a client gets. `only` is a
        condition on columns of the row: then one call reads many rows to find those.
        """
        index = getattr(self.table, f"by_{group}")
        before = index.Meta.attributes["position"] < after if after else None
        size = limit + 1 if only is None else max(limit + 1, _FILTERED)
        with store_errors():
            rows = index.query(value, before, only, scan_index_forward=False, limit=limit + 1, page_size=size)
            page = page_of(rows, key=position_of, limit=limit, size=body_size if by_size else None)
        if group in self.table.COMPACT:
            return page.with_items(self.with_ids(row.id for row in page.items))
        return page.map(self.from_row)

    def all(self) -> Iterator[E]:
        """All of them, newest first, without a bound: for workers only."""
        return self.all_in(LISTING, self.noun)

    def all_in(self, group: str, value: str) -> Iterator[E]:
        """All whose group has that value, newest first, without a bound: for workers only."""
        with store_errors():
            # Of thousands of rows, reading the other columns takes longer than reading the bodies.
            compact = group in self.table.COMPACT
            columns = ["id"] if compact else ["id", "body", "counted"]
            index = getattr(self.table, f"by_{group}")
            rows = index.query(value, scan_index_forward=False, attributes_to_get=columns)
            if compact:
                yield from self.with_ids(row.id for row in rows)
            else:
                yield from map(self.from_row, rows)

    def oldest_in(self, group: str, value: str) -> E | None:
        """The oldest whose group has that value, of an index with bodies; None when there is none."""
        with store_errors():
            rows = getattr(self.table, f"by_{group}").query(value, limit=1)
            return next(map(self.from_row, rows), None)

    def with_ids(self, entity_ids: Iterable[str]) -> Iterator[E]:
        """Those of these ids that exist, in their order: one call for each hundred. Consistent."""
        ids = iter(entity_ids)
        while some := list(islice(ids, ROWS_PER_CALL)):
            with store_errors():
                found = map(self.found, read_rows(*map(self.key, some)))
            yield from filter(None, found)

    def uncounted(self) -> Iterator[E]:
        """Those that an earlier release has stored, which did not count, in any order: for workers only."""
        with store_errors():
            uncounted = self.table.counted.does_not_exist()
            rows = getattr(self.table, f"by_{LISTING}").query(self.noun, filter_condition=uncounted)
            yield from map(self.from_row, rows)

    def columns_in(self, group: str, value: str, deadline: Deadline) -> Iterator[tuple[str, Mapping[str, str | None]]]:
        """Of all whose group has that value the id and the copied fields: a body may have 50 KB, and they 100 bytes.

        Raises TimedOut after the deadline.
        """
        copied = self.table.COPIED
        with store_errors():
            for row in getattr(self.table, f"by_{group}").query(value, attributes_to_get=["id", *copied]):
                if deadline.passed:
                    raise TimedOut("The store did not list everything in time.")
                columns = {field: getattr(row, field) for field in copied}
                if not any(columns.values()) and (entity := self.find(row.id)):  # an older release has stored it
                    columns = {field: getattr(entity, field) for field in copied}
                yield row.id, columns

    def put_new(self, transaction: Transaction, entity: E) -> E:
        """Store an entity that does not exist yet; returns it as stored. Conflict label: `<noun>.exists`."""
        stored = self._counted(transaction, entity, before=None)
        row = self._row(stored, transaction.write_id)
        transaction.put(row, condition=self.table.id.does_not_exist(), label=f"{self.noun}.exists")
        return stored

    def save(self, transaction: Transaction, entity: E, *, unused: bool = False, references: int | None = None) -> E:
        """Replace what is stored, if nothing was written since the entity was read; the result has the new revision.

        With `unused`, and when the entity begins to close, nothing may point at it; `references` demands that so many
        do. Conflict label: `<noun>.changed`.
        """
        saved = replace(entity, revision=entity.revision + 1)  # type: ignore[type-var]
        saved = self._counted(transaction, saved, before=_counted_before(entity))
        row = self._row(saved, transaction.write_id)
        actions = [self.table.body.set(row.body), self.table.revision.set(row.revision)]
        actions.append(self.table.write_id.set(transaction.write_id))
        expires_at, expiry = self.expires_at(entity), self.table.expires_at
        actions.append(expiry.remove() if expires_at is None else expiry.set(expires_at))
        for name in (*self.groups(entity), *self.table.COPIED, "counted"):
            value, column = getattr(row, name), getattr(self.table, name)
            actions.append(column.set(value) if value is not None else column.remove())
        closing, condition = self.table.closing, self.table.revision == entity.revision
        if unused or self.closing(entity):
            condition = condition & self._unused()
        elif references:
            condition = condition & (self.table.references == references)
        actions.append(closing.set(True) if self.closing(entity) else closing.remove())
        transaction.update(row, actions, condition=condition, label=f"{self.noun}.changed")
        return saved

    def save_alone(self, entity: E) -> E:
        """`save` in a transaction of its own. Raises WriteConflict."""
        transaction = Transaction()
        saved = self.save(transaction, entity)
        transaction.commit()
        return saved

    def remove(self, transaction: Transaction, entity: E) -> None:
        """Delete it, if nothing was written since it was read and nobody points at it. Label: `<noun>.removable`."""
        if before := _counted_before(entity):
            Counts.add(transaction, self.noun, {before: -1})
        transaction.delete(
            self._row(entity, transaction.write_id),
            condition=(self.table.revision == entity.revision) & self._unused(),
            label=f"{self.noun}.removable",
        )

    def refer(self, transaction: Transaction, entity_id: str, change: int, *, revision: int | None = None) -> None:
        """Count one reference more (+1) or less (-1) of an existing entity; `revision`: only at that revision.

        Conflict label: `<noun>.missing`.
        """
        there = self.table.id.exists() if revision is None else self.table.revision == revision
        if change > 0:
            there = there & self.table.closing.does_not_exist()
        references = self.table.references.add(change)
        transaction.update(self.table(entity_id), [references], condition=there, label=f"{self.noun}.missing")

    def _counted(self, transaction: Transaction, entity: E, *, before: str | None) -> E:
        """The entity with the state that it is counted under from now on. The numbers change if the state does."""
        after = self.counted_as(entity)
        if before != after:
            changes = ((before, -1), (after, +1))
            Counts.add(transaction, self.noun, {state: change for state, change in changes if state})
        return _with_counted(entity, after)

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
            counted=_counted_before(entity),
            expires_at=self.expires_at(entity),
            **groups,
            **copied,
        )

    def from_row(self, row: Document) -> E:
        """The entity in a row."""
        found: E = adapter(self.entity).validate_json(row.body)
        # Not what the body says: an earlier release writes bodies without it, and leaves the column as it is.
        return _with_counted(found, row.counted)

    def key(self, entity_id: str) -> Key:
        """The key of its row, for a read across tables."""
        return self.table, entity_id

    def found(self, row: Document | None) -> E | None:
        """The entity in the row of a read across tables; None when there was none."""
        return self.from_row(row) if row else None


def _with_counted(entity: E, counted: str | None) -> E:
    """The entity counted under this state; itself when it is of a type that is not counted."""
    return replace(entity, counted=counted) if hasattr(entity, "counted") else entity  # type: ignore[type-var]


def _counted_before(entity: Any) -> str | None:
    """The state under which it is counted as stored; None when it never was."""
    counted: str | None = getattr(entity, "counted", None)
    return counted
