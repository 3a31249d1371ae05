"""Which MinIO is taken, and what is said when there is none."""

import os
from pathlib import Path

import pytest

from infra.local.app.errors import SetupMissing
from infra.local.stack import long_commands, minio_programs
from infra.local.stack.layout import MODULES
from infra.local.stack.minio_programs import Build, find_program, missing

SETTING = "HEADGATE_MINIO"


@pytest.fixture
def tools(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A folder that comes first on the PATH. No MinIO of this machine is named, and the cache is empty."""
    monkeypatch.delenv(SETTING, raising=False)
    monkeypatch.setenv("HEADGATE_CACHE", str(tmp_path / "cache"))
    folder = tmp_path / "tools"
    folder.mkdir()
    monkeypatch.setenv("PATH", f"{folder}:/usr/bin:/bin")
    return folder


def program(file: Path, script: str) -> Path:
    file.write_text(f"#!/bin/sh\n{script}\n")
    file.chmod(0o755)
    return file


def test_the_version_of_every_module_is_pinned_with_its_hash() -> None:
    required = [
        line.split()[:2]
        for line in (MODULES / "minio" / "go.mod").read_text().splitlines()
        if line.startswith("\t") and len(line.split()) >= 2
    ]
    hashes = {tuple(line.split()[:2]) for line in (MODULES / "minio" / "go.sum").read_text().splitlines()}
    assert len(required) > 100
    assert [name for name, version in required if not hashes & {(name, version), (name, f"{version}/go.mod")}] == []


def test_without_go_the_reason_says_so(tools: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tools))
    assert missing() == "Go 1.24 or newer, which builds MinIO, is not on the PATH"
    with pytest.raises(SetupMissing, match=f"A minio of this machine is used where {SETTING} has its path"):
        find_program()


@pytest.mark.parametrize(
    ("version", "reason"),
    [
        ("go1.24", None),
        ("go1.26.8", None),
        ("go2.0", None),
        ("go1.19.8", "MinIO needs Go 1.24 or newer to be built, and go1.19 is here"),
        ("no such command", "`go env GOVERSION` does not work"),
    ],
)
def test_go_is_taken_from_the_version_on_that_minio_needs(tools: Path, version: str, reason: str | None) -> None:
    program(tools / "go", f"echo {version}")
    assert missing() == reason


BUILDS = """
[ "$1" = env ] && { echo go1.26.8; exit; }
echo "go: downloading example.org/module v1.0.0"
echo example.org/module
mkdir -p "$GOMODCACHE" "$GOCACHE"
while [ "$1" != -o ]; do shift; done
echo "$GOFLAGS $GOTOOLCHAIN" > "$2"
"""


def test_it_is_built_once_from_pinned_modules_and_the_caches_of_go_are_removed(
    tools: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    program(tools / "go", BUILDS)
    built = find_program()
    assert built.read_text() == "-mod=readonly -modcacherw -buildvcs=false local\n"
    assert "building MinIO with Go, once" in capsys.readouterr().err
    assert find_program() == built
    assert capsys.readouterr().err == ""
    assert sorted(path.name for path in (tmp_path / "cache").iterdir()) == sorted(["lock", built.parent.name])


def test_a_build_that_fails_leaves_nothing_and_its_output_is_shown(tools: Path, tmp_path: Path) -> None:
    program(tools / "go", '[ "$1" = env ] && echo go1.26.8 && exit\necho "verifying module: checksum mismatch"\nexit 1')
    with pytest.raises(SetupMissing, match=r"Start again, or leave minio out of --with[^|]*\| verifying module"):
        find_program()
    assert [path.name for path in (tmp_path / "cache").iterdir() if not path.name.endswith(".unfinished")] == ["lock"]


def test_a_build_that_takes_too_long_is_ended(tools: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(long_commands, "LIMIT_SECONDS", 0.2)
    program(tools / "go", '[ "$1" = env ] && echo go1.26.8 && exit\nexec sleep 600')
    with pytest.raises(SetupMissing, match="status -15"):
        find_program()


def test_a_minio_of_the_setting_is_taken(tools: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own = program(tools / "minio", "echo minio version RELEASE.2025-09-07T16-13-09Z")
    monkeypatch.setenv(SETTING, str(own))
    assert (missing(), find_program()) == (None, own)


def test_another_program_is_refused_with_what_it_says(tools: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(SETTING, str(program(tools / "minio", "echo Midnight Commander")))
    with pytest.raises(SetupMissing, match="is no MinIO server: Midnight Commander"):
        find_program()
    monkeypatch.setenv(SETTING, os.devnull)
    with pytest.raises(SetupMissing, match="cannot be run"):
        find_program()


def test_progress_is_counted_from_what_go_prints() -> None:
    build = Build()
    for line in (
        "go: downloading example.org/a v1.0.0\n",
        "example.org/a/b\n",
        "# example.org/a\n",
        "a.go:1: broken\n",
    ):
        build.note(line)
    assert str(build) == "MinIO: 1 modules fetched, 1 packages built so far"
    assert build.tail[-1] == "a.go:1: broken"


def test_the_package_that_is_built_is_the_tool_of_the_module() -> None:
    assert f"tool {minio_programs._PACKAGE}\n" in (MODULES / "minio" / "go.mod").read_text()
