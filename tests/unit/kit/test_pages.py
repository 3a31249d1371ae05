from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chalicelib.kit.pages import CURSOR_LIFETIME, BadCursor, Page, Signer
from tests.support.edge import time_at

SIGNER = Signer(key=b"k" * 32)


@given(st.text(max_size=200), st.text(max_size=50).filter(lambda text: text.isprintable()))
def test_a_cursor_gives_back_the_key_that_it_was_made_from(next_key: str, scope: str) -> None:
    assert SIGNER.unsign(scope, SIGNER.sign(scope, next_key, time_at()), time_at()) == next_key


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
    assert Page((1, 2), "next").map(str) == Page(("1", "2"), "next")
