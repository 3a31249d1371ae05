"""What differs between two views of a resource, as people read it."""

from chalicelib.domain.plans.changes import changes_between
from chalicelib.kit.masking import MASK


def shown(before: dict[str, object] | None, after: dict[str, object] | None) -> list[tuple[str, object, object]]:
    return [(one.path, one.before, one.after) for one in changes_between(before, after)]


def test_objects_are_compared_field_by_field_and_lists_as_a_whole() -> None:
    before = {"name": "a", "config": {"host": "x", "port": 1}, "tables": ["t"]}
    after = {"name": "a", "config": {"host": "y", "port": 1}, "tables": ["t", "u"]}
    assert shown(before, after) == [("config.host", "x", "y"), ("tables", ["t"], ["t", "u"])]


def test_what_is_made_and_what_is_deleted_shows_every_value() -> None:
    made = {"name": "a", "labels": {}, "config": {"port": 1}}
    assert shown(None, made) == [("name", None, "a"), ("config.port", None, 1)]
    assert shown({"name": "a", "description": None}, None) == [("name", "a", None)]


def test_what_is_only_observed_is_no_change() -> None:
    assert shown({"version": 1, "health": {"status": "HEALTHY"}}, {"version": 2, "health": {"status": "UNKNOWN"}}) == []


def test_the_fields_of_a_capture_have_the_names_of_the_api() -> None:
    assert shown({"capture": {"topic_prefix": "a"}}, {"capture": {"topic_prefix": "b"}}) == [("topic_prefix", "a", "b")]


def test_a_secret_that_is_given_rotated_or_removed_shows_as_a_mask() -> None:
    absent, first = {"credentials": {"configured": False}}, {"credentials": {"configured": True}}
    second = {"credentials": {"configured": True, "versions": {"password": 2, "ca_certificate": 1}}}
    assert shown(absent, first) == [("credentials", None, MASK)]
    assert shown(first, second) == [("credentials.password", MASK, MASK)]
    assert shown(second, second) == []
    assert shown(first, absent) == [("credentials", MASK, None)]
