import pytest
from hypothesis import given
from hypothesis import strategies as st

from chalicelib.kit.ids import correlation_id, id_from, is_uuid, new_id, new_token


def test_fresh_ids_are_uuids_and_differ() -> None:
    ids = {new_id() for _ in range(100)}
    assert len(ids) == 100
    assert all(map(is_uuid, ids))


def test_an_id_is_a_function_of_its_parts() -> None:
    assert id_from("a", "b") == id_from("a", "b")
    assert len({id_from("a", "b"), id_from("b", "a"), id_from("ab"), id_from("a", "b", "")}) == 4
    assert is_uuid(id_from("a"))


_ID = "e68c3b97-b9d6-4cbf-998d-6e2b30b526f2"


@pytest.mark.parametrize(
    "text", ["", "x", _ID.upper() + "A", _ID.upper(), _ID.replace("-", ""), _ID + "\n", f"{{{_ID}}}"]
)
def test_another_spelling_is_no_uuid_of_ours(text: str) -> None:
    assert not is_uuid(text)


@given(st.from_regex(r"[A-Za-z0-9._-]{1,128}", fullmatch=True))
def test_a_good_correlation_id_is_taken(given_id: str) -> None:
    assert correlation_id(given_id) == given_id


@pytest.mark.parametrize("given_id", [None, "", "a b", "x" * 129, "a\n", "ä"])
def test_a_bad_correlation_id_is_replaced(given_id: str | None) -> None:
    assert is_uuid(correlation_id(given_id))


def test_tokens_are_long_different_and_safe_in_a_url() -> None:
    tokens = {new_token() for _ in range(100)}
    assert len(tokens) == 100
    assert all(len(token) >= 43 for token in tokens)
    assert all(token.replace("-", "").replace("_", "").isalnum() for token in tokens)
