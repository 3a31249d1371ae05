import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chalicelib.kit.strict_json import MAX_DEPTH, MAX_MEMBERS, MAX_VALUES, NotStrictJson, loads, may_hide

VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**18), 10**18)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)


@given(VALUES)
def test_valid_json_is_parsed_as_the_json_module_does(value: object) -> None:
    raw = json.dumps(value).encode()
    assert loads(raw) == json.loads(raw)


@pytest.mark.parametrize(
    "raw",
    [
        *(b"", b"{", b"{}{}", b"{'a':1}", b'{"a":1,}', b'"\n"'),
        *(b"\xef\xbb\xbf{}", b"\xff", '"x"'.encode("utf-16"), b'"\xed\xa0\x80"'),
        *(b"NaN", b'{"a":Infinity}', b"[-Infinity]", b"1e999", b"-1e999"),
        *(b'{"a":1,"a":1}', b'{"x":{"a":1,"\\u0061":2}}', b'[{}, {}, {"a":1,"b":{"c":1,"c":2}}]'),
    ],
)
def test_json_that_parsers_read_differently_is_refused(raw: bytes) -> None:
    with pytest.raises(NotStrictJson):
        loads(raw)


@pytest.mark.parametrize(
    ("raw", "place", "words"),
    [
        (b'{"a": 1,\n "b" 2}', (2, 6), "a colon is expected behind a key"),
        (b'{"a": 1\n "b": 2}', (2, 2), "a comma or a closing bracket is expected"),
        (b'{"a": hunter2}', (1, 7), "a value is expected"),
        (b'{"a": "hunter2}', (1, 7), "a text has no closing quote"),
        (b'{"a": "\\hunter2"}', (1, 8), "a backslash in a text is not the beginning of an escape"),
        (b"{} hunter2", (1, 4), "something stands behind the end of the value"),
    ],
)
def test_the_fault_is_told_by_its_place_and_without_the_text(raw: bytes, place: tuple[int, int], words: str) -> None:
    with pytest.raises(NotStrictJson) as refused:
        loads(raw)
    assert (refused.value.line, refused.value.column) == place
    assert words in str(refused.value)
    assert "hunter2" not in str(refused.value)


@pytest.mark.parametrize(("digits", "taken"), [(20, True), (999, True), (1001, False), (5000, False)])
@pytest.mark.parametrize("sign", [b"", b"-"])
def test_integers_have_at_most_1000_digits(sign: bytes, digits: int, taken: bool) -> None:
    raw = sign + b"9" * digits
    if taken:
        assert loads(raw) == int(raw)
    else:
        with pytest.raises(NotStrictJson):
            loads(raw)


def test_nesting_is_taken_to_the_limit_and_not_beyond() -> None:
    assert MAX_DEPTH == 32, "the contract's number"
    assert loads(b"[" * MAX_DEPTH + b"]" * MAX_DEPTH) is not None
    with pytest.raises(NotStrictJson, match="nesting"):
        loads(b"[" * (MAX_DEPTH + 1) + b"]" * (MAX_DEPTH + 1))
    with pytest.raises(NotStrictJson, match="nesting"):
        loads(b'{"a":' * (MAX_DEPTH + 1) + b"1" + b"}" * (MAX_DEPTH + 1))


def test_brackets_in_strings_and_siblings_are_no_nesting() -> None:
    assert loads(json.dumps(["[" * 100, '\\"[[[' * 20]).encode()) == ["[" * 100, '\\"[[[' * 20]
    assert len(loads(b"[" + b"[],{}," * 100 + b"1]")) == 201


@pytest.mark.parametrize(
    "raw",
    [
        b"[" * 262_144,
        b'{"a":' * 50_000,
        b'"' + b'\\"' * 130_000,
        b'"[' * 130_000,
        b"[]" * 130_000,
        b'["' + b"\\" * 262_000,
    ],
)
def test_a_hostile_body_of_full_size_is_parsed_fast_and_without_recursion(raw: bytes) -> None:
    started = time.process_time()
    with pytest.raises(NotStrictJson):
        loads(raw)
    # A parser with quadratic time would need minutes, so this bound is safe on any machine.
    assert time.process_time() - started < 5


def test_a_refusal_quotes_nothing() -> None:
    with pytest.raises(NotStrictJson) as refusal:
        loads(b'{"hunter2":1,"hunter2":2}')
    assert "hunter2" not in str(refusal.value)
    assert "hunter2" not in repr(refusal.value.__cause__)


@pytest.mark.parametrize("raw", [b'"${x}"', b'"\\u0024{x}"', b'"$\\u007bx}"'])
def test_a_secret_is_found_in_every_spelling(raw: bytes) -> None:
    assert may_hide(raw, b"${")
    assert "${x}" in loads(raw)


def test_a_text_without_secrets_is_unchanged() -> None:
    assert not may_hide(b'{"a":"$ {"}', b"${")


@pytest.mark.parametrize("value", ["0", "[]", "{}", '""', '"a,[{"', '{"a":0}'])
def test_values_are_taken_to_the_limit_and_not_beyond(value: str) -> None:
    most = MAX_VALUES // 2 - 1 if value in ("[]", "{}", '{"a":0}') else MAX_VALUES - 2
    assert len(loads(f"[{','.join([value] * most)}]".encode())) == most
    with pytest.raises(NotStrictJson, match="values"):
        loads(f"[{','.join([value] * (MAX_VALUES + 1))}]".encode())


def test_commas_and_brackets_in_strings_are_no_values() -> None:
    text = '",[{\\' * MAX_VALUES
    assert loads(json.dumps([text]).encode()) == [text]


def test_members_of_an_object_are_taken_to_the_limit_and_not_beyond() -> None:
    members = {str(number): number for number in range(MAX_MEMBERS)}
    assert loads(json.dumps(members).encode()) == members
    with pytest.raises(NotStrictJson, match="members"):
        loads(json.dumps({**members, "one": "more"}).encode())
