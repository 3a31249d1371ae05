"""Everything that is installed is pinned with its hashes, in one version, and under a licence that is allowed."""

import re
from email.message import Message

import pytest
from packaging.utils import canonicalize_name

from infra.local.stack.layout import ROOT
from infra.quality.licences import LOCKS, is_allowed, licence_of, refused
from tests.security.hygiene import hashed, requirements

SOURCES = ("infra/requirements.in", "infra/requirements-run.in", "infra/requirements-dev.in")


def test_the_lock_files_are_all_that_there_are() -> None:
    found = {path.relative_to(ROOT).as_posix() for path in ROOT.rglob("*requirements*.txt") if _ours(path)}
    assert found == set(LOCKS)


def _ours(path: object) -> bool:
    return ".headgate" not in str(path) and "node_modules" not in str(path)


@pytest.mark.parametrize("lock", LOCKS)
def test_every_requirement_is_one_version_with_hashes(lock: str) -> None:
    text = (ROOT / lock).read_text()
    assert requirements(text)
    assert [name for name, entry in requirements(text).items() if not hashed(entry)] == []
    assert re.findall(r"^\s*(?:-e|--index-url|--extra-index-url|--find-links|git\+|https?:)", text, re.MULTILINE) == []


@pytest.mark.parametrize("entry", ["a==1.0", "a>=1.0 \\\n    --hash=sha256:" + "0" * 64, "a==1.0 --hash=md5:00"])
def test_a_requirement_without_a_version_or_a_hash_would_be_found(entry: str) -> None:
    assert not hashed(entry)


def test_each_lock_file_contains_the_one_before_with_the_same_versions_and_hashes() -> None:
    deployed, running, testing = (requirements((ROOT / lock).read_text()) for lock in LOCKS)
    assert deployed.items() <= running.items()
    assert running.items() <= testing.items()


@pytest.mark.parametrize(("source", "lock"), list(zip(SOURCES, LOCKS, strict=True)))
def test_every_package_that_is_asked_for_is_locked(source: str, lock: str) -> None:
    asked = re.findall(r"^([A-Za-z0-9][\w.-]*)", (ROOT / source).read_text(), re.MULTILINE)
    assert {canonicalize_name(name) for name in asked} <= set(requirements((ROOT / lock).read_text()))


def test_every_direct_dependency_has_its_reason() -> None:
    reasons = (ROOT / "infra/decisions/003-dependencies.md").read_text().lower()
    for source in SOURCES:
        for name in re.findall(r"^([A-Za-z0-9][\w.-]*)", (ROOT / source).read_text(), re.MULTILINE):
            assert f"`{name.lower()}" in reasons or f"**{name}**".lower() in reasons, name


def test_no_package_has_a_licence_that_is_not_allowed() -> None:
    assert refused() == []


@pytest.mark.parametrize(
    ("licence", "allowed"),
    [
        ("MIT", True),
        ("GPL-3.0-only", False),
        ("AGPL-3.0-or-later", False),
        ("GPL-2.0-only OR MIT", True),
        ("GPL-2.0-only AND MIT", False),
        ("unknown", False),
        ("", False),
    ],
)
def test_one_allowed_alternative_is_enough(licence: str, allowed: bool) -> None:
    assert is_allowed(licence) is allowed


@pytest.mark.parametrize(
    ("fields", "licence"),
    [
        ({"License-Expression": "MIT OR Apache-2.0", "License": "x"}, "MIT OR Apache-2.0"),
        ({"License": "Apache License 2.0"}, "Apache-2.0"),
        ({"License": "MIT Licence\n\nCopyright", "Classifier": "License :: OSI Approved :: MIT License"}, "MIT"),
        ({"License": "as you like it"}, "unknown"),
        ({}, "unknown"),
    ],
)
def test_a_licence_is_read_from_what_a_package_says(fields: dict[str, str], licence: str) -> None:
    facts = Message()
    for name, value in fields.items():
        facts[name] = value
    assert licence_of(facts) == licence
