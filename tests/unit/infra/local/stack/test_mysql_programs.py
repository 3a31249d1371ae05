"""Which MySQL server is taken, and what is said when there is none."""

import platform
from pathlib import Path

import pytest

from infra.local.app.errors import SetupMissing
from infra.local.stack import mysql_programs, shared_libraries
from infra.local.stack.mysql_programs import Programs, find_programs, missing

SETTING = "HEADGATE_MYSQLD"


def program(folder: Path, script: str, name: str = "mysqld") -> Path:
    file = folder / name
    file.write_text(f"#!/bin/sh\n{script}\n")
    file.chmod(0o755)
    return file


@pytest.mark.parametrize("version", ["8.0.15", "8.4.3", "9.7.1", "10.0.0"])
def test_a_mysqld_of_the_setting_is_taken_from_version_8_on(
    version: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    own = program(tmp_path, f"echo 'mysqld  Ver {version} for Linux on x86_64 (Source distribution)'")
    monkeypatch.setenv(SETTING, str(own))
    programs = find_programs()
    assert programs == Programs(mysqld=own)
    assert programs.command == [str(own), "--no-defaults"]
    assert programs.environment == {}


@pytest.mark.parametrize(
    ("script", "said"),
    [
        ("echo 'mysqld  Ver 5.7.44 for Linux on x86_64 (MySQL Community Server (GPL))'", "Ver 5.7.44"),
        ("echo 'mysqld  Ver 10.11.6-MariaDB-0+deb12u1 for debian-linux-gnu on x86_64'", "MariaDB"),
        ("echo unknown option >&2; exit 1", "unknown option"),
    ],
    ids=["old", "mariadb", "another program"],
)
def test_another_server_is_refused_with_what_it_says(
    script: str, said: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv(SETTING, str(program(tmp_path, script)))
    with pytest.raises(SetupMissing, match=f"is no MySQL server of version 8.0 or later: .*{said}"):
        find_programs()


def test_a_path_without_a_program_is_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv(SETTING, str(tmp_path / "nothing"))
    with pytest.raises(SetupMissing, match="cannot be run"):
        find_programs()


def test_without_maven_the_sentence_says_what_helps(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv(SETTING, raising=False)
    monkeypatch.setattr(platform, "machine", lambda: "x86_64")
    monkeypatch.setenv("PATH", str(tmp_path))
    reason = missing()
    assert reason is not None
    assert "apt-get install maven" in reason
    assert SETTING in reason
    with pytest.raises(SetupMissing, match="Maven"):
        find_programs()


def test_on_another_processor_the_sentence_names_the_setting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(SETTING, raising=False)
    monkeypatch.setattr(platform, "machine", lambda: "aarch64")
    assert f"this is aarch64. A mysqld of this machine, 8.0 or later, is used where {SETTING}" in (missing() or "")


LOADS = """
if [ -f "$LD_LIBRARY_PATH/libaio.so.1" ]; then echo "mysqld  Ver 8.0.15 for Linux"; else
echo "mysqld: error while loading shared libraries: libaio.so.1: cannot open shared object file" >&2; exit 127; fi
"""


@pytest.fixture
def base(tmp_path: Path) -> Path:
    """The folder of a MySQL that needs a library, which it does not bring."""
    (tmp_path / "base" / "bin").mkdir(parents=True)
    program(tmp_path / "base" / "bin", LOADS)
    return tmp_path / "base"


def test_a_library_of_the_machine_is_used_whatever_was_added_to_its_name(
    base: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    system = tmp_path / "system"
    system.mkdir()
    (system / "libaio.so.1t64.0.2").write_text("the library")
    (system / "libaio.so.1t64").symlink_to("libaio.so.1t64.0.2")
    monkeypatch.setattr(shared_libraries, "_SYSTEM", (system,))
    programs = mysql_programs._with_libraries(base, tmp_path / "libraries")
    assert programs.environment == {"LD_LIBRARY_PATH": str(tmp_path / "libraries")}
    assert (tmp_path / "libraries" / "libaio.so.1").read_text() == "the library"


PACKAGE = "libaio1"
DOWNLOADS = f"""
[ "$2" = {PACKAGE} ] || exit 100
echo packed > {PACKAGE}_0.3.113_amd64.deb
"""
UNPACKS = """
mkdir -p "$3/usr/lib/x86_64-linux-gnu"
echo "of a package" > "$3/usr/lib/x86_64-linux-gnu/libaio.so.1.0.2"
"""


def test_a_library_that_the_machine_does_not_have_comes_from_the_package_that_there_is(
    base: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    tools = tmp_path / "tools"
    tools.mkdir()
    program(tools, DOWNLOADS, "apt-get")
    program(tools, UNPACKS, "dpkg")
    monkeypatch.setenv("PATH", f"{tools}:/usr/bin:/bin")
    monkeypatch.setattr(shared_libraries, "_SYSTEM", ())
    mysql_programs._with_libraries(base, tmp_path / "libraries")
    assert (tmp_path / "libraries" / "libaio.so.1").read_text() == "of a package\n"


def test_a_library_that_cannot_be_had_is_named_with_its_packages(
    base: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(shared_libraries, "_SYSTEM", ())
    with pytest.raises(SetupMissing, match=r"needs the library libaio\.so\.1: install it from libaio1t64 or libaio1"):
        mysql_programs._with_libraries(base, tmp_path / "libraries")
