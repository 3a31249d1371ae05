from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chalicelib.kit.pages import CURSOR_LIFETIME, PAGE_BYTES, BadCursor, Page, Signer, bounded_key, page_of, sorted_page
from tests.support.apps.edge import time_at

SIGNER = Signer(key=b"k" * 32)


@given(st.text(max_size=200), st.text(max_size=50).filter(lambda text: text.isprintable()))
def test_a_cursor_gives_back_the_key_that_it_was_made_from(next_key: str, scope: str) -> None:
    assert SIGNER.unsign(scope, SIGNER.sign(scope, next_key, time_at()), time_at()) == next_key


def test_a_page_without_items_has_no_next_key() -> None:
    assert Page((), (), more=True).next_key is None
    assert Page(("a",), ("k",), more=True).below("k").first(10).next_key is None


def test_a_cursor_is_safe_in_a_url() -> None:
    cursor = SIGNER.sign("list", "ä/?&=+%" * 20, time_at())
    assert cursor.replace("-", "").replace("_", "").isalnum()
    assert cursor.isascii()


def test_a_cursor_of_another_list_is_refused() -> None:
    cursor = SIGNER.sign("sources", "k", time_at())
    with pytest.raises(BadCursor):
        SIGNER.unsign("users", cursor, time_at())


def test_a_cursor_signed_with_another_key_is_refused() -> None:
    cursor = Signer(key=b"x" * 32).sign("list", "k", time_at())
    with pytest.raises(BadCursor):
        SIGNER.unsign("list", cursor, time_at())


def test_a_cursor_lives_for_a_day_and_no_longer() -> None:
    cursor = SIGNER.sign("list", "k", time_at())
    assert SIGNER.unsign("list", cursor, time_at() + CURSOR_LIFETIME - timedelta(seconds=1)) == "k"
    with pytest.raises(BadCursor):
        SIGNER.unsign("list", cursor, time_at() + CURSOR_LIFETIME)


def test_every_changed_character_is_detected() -> None:
    cursor = SIGNER.sign("list", "some key", time_at())
    for position, character in enumerate(cursor):
        changed = cursor[:position] + ("A" if character != "A" else "B") + cursor[position + 1 :]
        with pytest.raises(BadCursor):
            SIGNER.unsign("list", changed, time_at())


@pytest.mark.parametrize("garbage", ["", "x", "ä", "====", "a b", "A" * 5000, "\x00", "null"])
def test_any_other_text_is_an_invalid_cursor(garbage: str) -> None:
    with pytest.raises(BadCursor):
        SIGNER.unsign("list", garbage, time_at())


def test_a_digest_depends_on_key_purpose_and_text() -> None:
    digests = {
        SIGNER.digest("a", b"x"),
        SIGNER.digest("b", b"x"),
        SIGNER.digest("a", b"y"),
        Signer(key=b"z").digest("a", b"x"),
    }
    assert len(digests) == 4


def test_a_signer_does_not_print_its_key() -> None:
    assert "kkkk" not in f"{SIGNER!r} {SIGNER}"


def test_a_page_is_changed_item_by_item_and_keeps_its_place() -> None:
    assert Page((1, 2), ("a", "b"), more=True).map(str) == Page(("1", "2"), ("a", "b"), more=True)


def test_the_first_items_of_a_page_are_a_page_that_goes_on() -> None:
    page = Page((1, 2, 3), ("a", "b", "c"))
    assert (page.next_key, page.first(2).next_key, page.first(3)) == (None, "b", page)


def test_a_page_ends_at_its_limit_and_knows_whether_more_follows() -> None:
    assert page_of("abc", key=str, limit=3) == Page(("a", "b", "c"), ("a", "b", "c"))
    assert page_of("abcd", key=str, limit=3).next_key == "c"


def test_a_page_ends_when_its_items_reach_the_size_of_a_body_and_no_more_are_read() -> None:
    read: list[int] = []
    items = (read.append(number) or number for number in range(100))
    page = page_of(items, key=str, limit=50, size=lambda _: PAGE_BYTES // 2)
    assert (page.items, page.next_key, read) == ((0, 1), "1", [0, 1, 2])


def test_a_page_of_descending_keys_begins_below_a_key() -> None:
    page = Page((3, 2, 1), ("c", "b", "a"))
    assert [page.below(key).items for key in (None, "c", "bb", "a")] == [(3, 2, 1), (2, 1), (2, 1), ()]


def test_items_that_come_or_go_between_two_pages_are_neither_repeated_nor_skipped() -> None:
    first = sorted_page("bdfh", key=str, limit=2, after=None)
    assert first.items == ("b", "d")
    for changed, rest in (("abdfh", ("f", "h")), ("dfh", ("f", "h")), ("bfh", ("f", "h")), ("bdefh", ("e", "f", "h"))):
        assert sorted_page(changed, key=str, limit=9, after=first.next_key).items == rest, changed


def test_a_page_goes_on_behind_what_was_left_out_at_its_end() -> None:
    page = Page(("a",), ("c",), more=True, unreadable=("id",), last_key="b")
    assert page.next_key == "b"
    assert page.map(str.upper).next_key == "b"
    assert Page((), (), more=True, unreadable=("id",), last_key="b").first(10).next_key == "b"


def test_a_page_that_is_cut_goes_on_behind_its_last_entry() -> None:
    page = Page(("a", "b"), ("d", "c"), more=True, unreadable=("id",), last_key="b")
    assert page.first(1) == Page(("a",), ("d",), more=True, unreadable=("id",))
    assert page.first(1).next_key == "d"


def test_long_names_have_short_keys_that_tell_them_apart() -> None:
    letter = "\N{GRINNING FACE}"
    names = [letter * 5_000 + "a", letter * 5_000 + "b", "short"]
    assert len(set(map(bounded_key, names))) == 3
    for name in names:
        # the longest cursor that a list takes
        assert len(SIGNER.sign("list", f"{bounded_key(name)}\x1f{'0' * 36}", time_at())) <= 4_096
