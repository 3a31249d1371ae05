"""Everything else goes on while one row of a kind cannot be read; `python -m tests.unreadable` tries every place."""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

import pytest

from chalicelib.kit.masking import Secret
from chalicelib.stores.groups import Stores
from tests.unreadable.check import check, chosen_row
from tests.unreadable.enum_fields import NotInThisRow, Schema
from tests.unreadable.stored_kinds import HEAD_DOCUMENTS, WITHOUT_ENUMS, Place, places, untested_tables
from tests.unreadable.world import World, world


class _NoSealer:
    def seal(self, name: str, text: Secret) -> str:
        raise AssertionError("nothing is sealed here")

    def open(self, name: str, sealed: str) -> Secret:
        raise AssertionError("nothing is opened here")


PLACES = list(places(Stores(_NoSealer())))
KINDS = list(dict.fromkeys(place.kind.name for place in PLACES if place.field))


@pytest.fixture(scope="module")
def made() -> Iterator[World]:
    with world() as made:
        yield made


def applying(made: World, kind: str) -> list[Place]:
    """The places of a kind that its row has."""
    found = []
    made.restore()
    for place in PLACES:
        if place.kind.name == kind:
            try:
                place.planted(chosen_row(made, place.kind))
            except NotInThisRow:
                continue
            found.append(place)
    return found


@pytest.mark.parametrize("kind", KINDS)
def test_everything_else_goes_on_while_a_row_of_this_kind_cannot_be_read(made: World, kind: str) -> None:
    """For its first field and for each of its columns."""
    every = applying(made, kind)
    first = next(place for place in every if place.field)
    for place in (first, *(place for place in every if place.column)):
        assert check(made, place).faults == {}, str(place)


@pytest.mark.parametrize("kind", KINDS)
def test_only_fields_of_other_kinds_of_destinations_are_not_tried(made: World, kind: str) -> None:
    tried = applying(made, kind)
    left_out = [place.field for place in PLACES if place.kind.name == kind and place.field and place not in tried]
    assert [field for field in left_out if field.path[0] not in ("address", "writing")] == []


def test_every_table_is_tried_or_has_no_enum() -> None:
    assert untested_tables(Stores(_NoSealer())) == set()
    documents = (*HEAD_DOCUMENTS, *(entity for entities in WITHOUT_ENUMS.values() for entity in entities))
    assert [Schema.of(entity).enum_fields() for entity in documents] == [[] for _ in documents]


class Word(StrEnum):
    KNOWN = "known"


@dataclass
class Part:
    number: int
    word: Word | None = None


@dataclass
class Whole:
    parts: tuple[Part, ...] = ()
    by_name: dict[str, Part] | None = None


def test_a_new_enum_is_found_wherever_it_is_in_a_document() -> None:
    schema = Schema.of(Whole)
    assert [str(field) for field in schema.enum_fields()] == ["parts.[].word", "by_name.{}.word"]
    assert schema.with_value({"parts": []}, ("parts", "[]", "word"), "new") == {"parts": [{"number": 1, "word": "new"}]}
    in_mapping = schema.with_value({}, ("by_name", "{}", "word"), "new")
    assert in_mapping == {"by_name": {"sample": {"number": 1, "word": "new"}}}
