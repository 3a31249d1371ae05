"""Every text of every body refuses control characters, so that none reaches a log, a message or a terminal."""

from collections.abc import Iterator

import pytest

from tests.support.apps.sandbox import Sandbox
from tests.support.hostile.document_fields import Json, Path, alternatives, body_schema, changed, constants, free_texts
from tests.support.hostile.mass_assignment import address_of, known_ids

pytestmark = pytest.mark.thorough

UNREADABLE = ("a\x1b[2Jb", "a\x00b", "a\x08b", "a\u2028b")
ELSEWHERE = {
    *("credentials", "password", "current_password", "new_password", "code"),
    *("config", "provider", "properties"),
}
"""Secrets are kept as they are given, shown to nobody, and sent to one server; a property's value has its own rule.
Addresses are tried in `test_config_injection`.
"""


def _places(document: Json) -> Iterator[tuple[str, str, Json, Path]]:
    """Method and path, a body that tells the members of a union apart, and the place of a text in it."""
    for path, operations in document["paths"].items():
        for method in {"post", "put", "patch"} & set(operations):
            for alternative in alternatives(document, body_schema(document, method, path) or {}):
                base = constants(alternative)
                places = {at for at in free_texts(document, alternative) if not set(at) & ELSEWHERE}
                yield from ((method, path, base, at) for at in sorted(places))


def test_no_text_takes_a_control_character(sandbox: Sandbox) -> None:
    document = sandbox.admin.get_ok("//openapi.json")
    ids, accepted, tried = known_ids(sandbox.admin, document), [], 0
    for method, path, base, at in _places(document):
        for text in UNREADABLE:
            body = changed(base, at, text)
            answer = sandbox.admin.call(
                method.upper(), "/" + address_of(document, path, document["paths"][path][method], ids), body
            )
            tried += 1
            details = answer.json()["error"]["details"] if answer.status_code == 422 else []
            steps = [step for step in at if step not in ("[]", "a_key")]
            about = [detail for detail in details if _is_about(detail, steps)]
            if not about:
                accepted.append(f"{method} {path} {at} {text!r}: {answer.status_code} {answer.text[:300]}")
    assert accepted == []
    assert tried > 200


def _is_about(detail: Json, steps: list[str]) -> bool:
    named = [step for step in detail["location"] if step in steps]
    return named == steps and detail["type"] != "missing"
