import pytest

from chalicelib.kit.similar import nearest


@pytest.mark.parametrize(
    ("word", "known", "meant"),
    [
        ("required", ["prefer", "require"], "require"),
        ("admin", ["Admin", "Ops"], "Admin"),
        ("initial_load", ["initial", "initial_only"], "initial"),
        ("page_size", ["page", "pageSize"], "pageSize"),
        ("hostname", ["host", "username"], "host"),
        ("hsot", ["host", "port"], "host"),
        ("avro", ["json", "json_schema"], None),
        ("no", ["no_data"], None),
        ("host", ["host"], None),
        ("", ["host"], None),
        (7, ["7"], None),
        ("x" * 101, ["x" * 100], None),
    ],
)
def test_the_known_word_that_was_meant_is_found(word: object, known: list[str], meant: str | None) -> None:
    assert nearest(word, known) == meant
