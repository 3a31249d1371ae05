import hashlib
import os
import re

import pytest

from infra.local.app.errors import SetupMissing
from infra.local.stack.checksums import read_listing, require_known
from infra.local.stack.fetch import CAMEL, MYSQL, PARTS, Transfer, digest, fetch
from infra.local.stack.layout import POMS


def test_every_part_has_a_pom_and_every_pom_a_part():
    assert {part.name for part in (*PARTS, MYSQL, CAMEL)} == {pom.stem for pom in POMS.glob("*.xml")}


def test_every_part_has_a_listing_of_its_files_with_their_checksums():
    for part in (*PARTS, MYSQL, CAMEL):
        listed = read_listing(POMS / f"{part.name}.sha256")
        assert len(listed) > (0 if part is MYSQL else 30)
        assert all(re.fullmatch("[0-9a-f]{64}", sha256) for sha256 in listed.values())


def test_the_dependencies_of_a_pom_are_in_its_listing():
    for pom in POMS.glob("*.xml"):
        below_dependencies = pom.read_text().partition("<build>")[0]
        names = re.findall(r"<artifactId>([^<*]+)</artifactId>\s*<version>([^<]+)</version>", below_dependencies)[1:]
        files = " ".join(read_listing(pom.with_suffix(".sha256")))
        assert names
        assert [name for name, version in names if f"{name}-{version}" not in files] == []


@pytest.fixture
def fetched(tmp_path):
    """A folder with two files, and the listing of it."""
    folder, listing = tmp_path / "part", tmp_path / "part.sha256"
    (folder / "plugin").mkdir(parents=True)
    for name, content in (("a.jar", b"one"), ("plugin/b.jar", b"two")):
        (folder / name).write_bytes(content)
    names = ("a.jar", "plugin/b.jar")
    listing.write_text("".join(f"{hashlib.sha256((folder / n).read_bytes()).hexdigest()}  {n}\n" for n in names))
    require_known(folder, listing)
    return folder, listing


@pytest.mark.parametrize(
    ("change", "named"),
    [
        (lambda folder: (folder / "a.jar").write_bytes(b"other"), "a.jar"),
        (lambda folder: (folder / "plugin" / "b.jar").unlink(), "plugin/b.jar"),
        (lambda folder: (folder / "more.jar").write_bytes(b"more"), "more.jar"),
        (
            lambda folder: ((folder / "a.jar").rename(folder.parent / "x"), (folder / "a.jar").symlink_to("../x")),
            "a.jar",
        ),
    ],
    ids=["changed", "missing", "added", "link"],
)
def test_programs_that_are_not_as_listed_are_refused_and_named(fetched, change, named):
    folder, listing = fetched
    change(folder)
    with pytest.raises(SetupMissing, match=f": {named}\\."):
        require_known(folder, listing)


def test_programs_that_maven_brings_and_nobody_knows_are_not_kept(monkeypatch, tmp_path):
    maven, cache = tmp_path / "bin" / "mvn", tmp_path / "cache"
    maven.parent.mkdir()
    maven.write_text('#!/bin/sh\nfor last; do :; done\necho x > "${last#-DoutputDirectory=}/foreign.jar"\n')
    maven.chmod(0o755)
    monkeypatch.setenv("PATH", f"{maven.parent}:{os.environ['PATH']}")
    for _ in range(2):
        with pytest.raises(SetupMissing, match="not what this version of Headgate was made with"):
            fetch(PARTS[0], cache)
    assert [path.name for path in cache.iterdir() if not path.name.endswith(".unfinished")] == []


def test_poms_name_exact_versions_only():
    for pom in POMS.glob("*.xml"):
        for sign in ("LATEST", "RELEASE", "SNAPSHOT", "[", "${"):
            assert sign not in pom.read_text()


def test_finished_transfers_are_counted_by_maven_s_own_words():
    transfer = Transfer()
    for line in (
        "[INFO] Downloading from central: https://repository.example/a.jar",
        "[INFO] Downloaded from central: https://repository.example/a.jar (1.5 MB at 10 MB/s)",
        "[INFO] Downloaded from central: https://repository.example/b.pom (500 B at 10 kB/s)",
        "[ERROR] no such artifact",
    ):
        transfer.note(line)
    assert (transfer.files, transfer.size) == (2, 1_500_500)
    assert transfer.tail == ["[ERROR] no such artifact"]


def test_files_on_their_way_count_as_far_as_they_have_come():
    transfer = Transfer()
    for line in (
        "Progress (1): 1.0/18 kB",
        "Progress (2): 4.5/18 kB | 500 B ",
    ):
        transfer.note(line)
    assert (transfer.files, transfer.size + transfer.current) == (0, 5_000)
    transfer.note("Downloaded from central: https://repository.example/a.jar (18 kB at 10 kB/s)")
    assert (transfer.files, transfer.size + transfer.current) == (1, 18_000)


@pytest.mark.parametrize("change", ["content", "name"])
def test_the_key_of_a_part_follows_its_files(tmp_path, change):
    file = tmp_path / "a.txt"
    file.write_text("one")
    before = digest([file], below=tmp_path)
    assert digest([file], below=tmp_path) == before
    if change == "content":
        file.write_text("two")
    else:
        file = file.rename(tmp_path / "b.txt")
    assert digest([file], below=tmp_path) != before
