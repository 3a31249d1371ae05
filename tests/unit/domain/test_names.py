import re

import pytest

from chalicelib.domain.names import (
    ConnectorKind,
    connector_name,
    consumer_group,
    name_list,
    owner_marker,
    parse_connector_name,
    quote_regex,
    topic_name,
    unique_key,
)

RESOURCE = "0a1b2c3d-0000-4000-8000-00000000ffff"


@pytest.mark.parametrize("kind", list(ConnectorKind))
def test_a_connector_name_can_be_read_back(kind: ConnectorKind) -> None:
    assert parse_connector_name(connector_name(kind, RESOURCE)) == (kind, RESOURCE)


@pytest.mark.parametrize(
    "name",
    [
        "",
        "orders",
        "headgate-source-",
        "headgate-sink-0a1b2c3d",
        "headgate-other-" + "0" * 32,
        "headgate-source-" + "G" * 32,
        "x-headgate-source-" + "0" * 32,
        "headgate-source-" + "0" * 33,
        "headgate-source-" + "0" * 32 + "\n",
    ],
)
def test_a_foreign_connector_name_is_not_parsed_as_ours(name: str) -> None:
    assert parse_connector_name(name) is None


def test_a_marker_names_kind_and_resource() -> None:
    assert owner_marker(ConnectorKind.SINK, RESOURCE) == f"sink/{RESOURCE}"


def test_a_sinks_group_follows_connects_rule() -> None:
    assert consumer_group("headgate-sink-x") == "connect-headgate-sink-x"


@pytest.mark.parametrize(
    ("table", "topic"),
    [
        ("orders", "p.public.orders"),
        ("Order Lines", "p.public.Order_Lines"),
        ("größe", "p.public.gr__e"),
        ("a$b", "p.public.a_b"),
        ("a-b_c.d", "p.public.a-b_c.d"),
    ],
)
def test_a_topic_has_an_underscore_for_what_kafka_does_not_allow(table: str, topic: str) -> None:
    assert topic_name("p", "public", table) == topic


@pytest.mark.parametrize(
    "text", ["a.b", "a|b", "(a)", "a[b]", "a{2}", "a$", "^a", "a\\b", "a b", "a*", "a+?", "a#b&c~d-e"]
)
def test_a_quoted_text_matches_itself_and_nothing_like_it(text: str) -> None:
    pattern = re.compile(quote_regex(text))
    assert pattern.fullmatch(text)
    assert not pattern.fullmatch(text + "x")
    assert not pattern.fullmatch(text.replace("a", "b", 1))


@pytest.mark.parametrize(
    ("first", "other"), [("Orders", "orders"), ("a  b", " a b"), ("Ａdmin", "admin"), ("straße", "STRASSE")]
)
def test_similar_names_share_a_unique_key(first: str, other: str) -> None:
    assert unique_key(first) == unique_key(other)


def test_the_unique_key_of_characters_that_stand_for_phrases_fits_a_key_of_a_table() -> None:
    first, other = "\ufdfa" * 200, "\ufdfa" * 199
    assert len(unique_key(first).encode()) < 100
    assert unique_key(first) == unique_key(f" {first}")
    assert unique_key(first) != unique_key(other)


def test_a_list_of_names_is_bounded_and_counts_the_rest() -> None:
    assert name_list(["a", "b"]) == "a, b"
    assert name_list(range(12)) == "0, 1, 2, 3, 4, 5, 6, 7, 8, 9 and 2 more"
