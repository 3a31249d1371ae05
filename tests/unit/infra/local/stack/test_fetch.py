import pytest

from infra.local.stack.fetch import PARTS, Transfer, digest
from infra.local.stack.layout import POMS


def test_every_part_has_a_pom_and_every_pom_a_part():
    assert {part.name for part in PARTS} == {pom.stem for pom in POMS.glob("*.xml")}


def test_poms_name_exact_versions_only():
    for pom in POMS.glob("*.xml"):
        for sign in ("LATEST", "RELEASE", "SNAPSHOT", "[", "${"):
            assert sign not in pom.read_text()


def test_finished_transfers_are_counted_by_maven_s_own_words():
    transfer = Transfer()
    transfer.read(
        [
            "[INFO] Downloading from central: https://repository.example/a.jar",
            "[INFO] Downloaded from central: https://repository.example/a.jar (1.5 MB at 10 MB/s)",
            "[INFO] Downloaded from central: https://repository.example/b.pom (500 B at 10 kB/s)",
            "[ERROR] no such artifact",
        ]
    )
    assert (transfer.files, transfer.size) == (2, 1_500_500)
    assert transfer.tail == ["[ERROR] no such artifact"]


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
