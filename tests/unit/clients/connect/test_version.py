import pytest

from chalicelib.clients.connect.version import kafka_version, supports_initial_state, supports_offset_changes


@pytest.mark.parametrize(
    ("text", "version"),
    [
        ("4.3.1", (4, 3)),
        ("3.7.0", (3, 7)),
        ("3.10.0-SNAPSHOT", (3, 10)),
        ("7.6.0-ccs", (3, 6)),
        ("8.1.0-ce", (4, 1)),
        ("3.5.0-ccs", (3, 5)),
        ("unheard-of", None),
        ("", None),
        ("4", None),
        ("99999.1", None),
    ],
)
def test_a_version_is_translated_to_that_of_kafka(text: str, version: tuple[int, int] | None) -> None:
    assert kafka_version(text) == version


@pytest.mark.parametrize(
    ("text", "does"),
    [
        *((text, True) for text in ("3.7.0", "3.10.1", "4.0.0", "4.3.1", "7.7.0-ccs", "8.0.0-ce")),
        *((text, False) for text in ("2.8.0", "3.6.9", "7.6.0-ccs", "7.6.1-ce", "?")),
    ],
)
def test_creating_a_connector_stopped_came_with_3_7(text: str, does: bool) -> None:
    assert supports_initial_state(text) is does


@pytest.mark.parametrize(
    ("text", "does"), [("3.6.0", True), ("4.3.1", True), ("7.6.0-ccs", True), ("3.5.2", False), ("7.5.0-ccs", False)]
)
def test_changing_the_offsets_of_a_connector_came_with_3_6(text: str, does: bool) -> None:
    assert supports_offset_changes(text) is does
