"""Fetches the programs of the real stack, once.

Each part has a pom in `poms/`, with pinned versions, a listing of its files with their SHA-256, and a folder
`PART-HASH` in the cache, where HASH is that of both: a changed pom is fetched again, and an unchanged one needs no
Maven. A part whose files are not as listed is not used. Parts are fetched one after the other, since Maven's local
repository is not made for several writers at a time.
"""

import hashlib
import re
import shutil
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from infra.local.app.errors import SetupMissing
from infra.local.app.progress import megabytes, say
from infra.local.process.locks import locked
from infra.local.stack import java
from infra.local.stack.checksums import require_known
from infra.local.stack.layout import PLUGIN_PROJECT, POMS, cache_folder, display_path
from infra.local.stack.long_commands import follow

# Lines of Maven: "Downloaded from REPOSITORY: URL (1.2 MB at 3.4 MB/s)", and, before, of one file or of several
# "Progress (1): 4.1/18 MB" and "Progress (2): 4.1/18 MB | 12 kB".
_DOWNLOADED = re.compile(r"Downloaded from \S+ \S+ \(([\d.]+) (B|kB|MB|GB) at")
_PROGRESS = re.compile(r"([\d.]{1,12})(?:/[\d.]{1,12})? (B|kB|MB|GB)")
_UNITS = {"B": 1, "kB": 1_000, "MB": 1_000_000, "GB": 1_000_000_000}
_ERROR_LINES = 15
_NO_COLOR = ("-Dstyle.color=never",)
"""Not in batch mode, in which Maven says nothing about a file before all of it is there."""


@dataclass(frozen=True, kw_only=True)
class DownloadPart:
    """A pom's name, the programs that it fetches, their size, and the Maven goal that puts them into one folder."""

    name: str
    brings: str
    size: str
    goal: Sequence[str] = ("dependency:copy-dependencies", "-DincludeScope=runtime")


PARTS = (
    DownloadPart(name="kafka", brings="Kafka broker", size="44 MB"),
    DownloadPart(name="connect", brings="Kafka Connect", size="36 MB"),
    DownloadPart(
        name="debezium",
        brings="Debezium's sources for PostgreSQL and MySQL, and its JDBC sink",
        size="125 MB",
        goal=("dependency:unpack-dependencies", "-DincludeTypes=tar.gz"),
    ),
    DownloadPart(name="dynamodb", brings="DynamoDB Local", size="51 MB"),
    DownloadPart(name="elasticmq", brings="ElasticMQ", size="37 MB"),
)
MYSQL = DownloadPart(name="mysql", brings="MySQL 8.0", size="34 MB")
"""Fetched only where MySQL is asked for."""
CAMEL = DownloadPart(name="camel", brings="Camel's S3 sink for Kafka Connect", size="17 MB")
"""Fetched only where an S3 is asked for."""


@dataclass(frozen=True, kw_only=True)
class Programs:
    """The folder of each part; `plugins` are the folders on Connect's plug-in path."""

    kafka: Path
    connect: Path
    dynamodb: Path
    elasticmq: Path
    plugins: tuple[Path, ...]


@dataclass
class Transfer:
    """How much Maven has fetched so far, counted from its output: whole files, and `current` of those on their way."""

    files: int = 0
    size: float = 0.0
    current: float = 0.0
    tail: list[str] = field(default_factory=list)

    def note(self, line: str) -> None:
        """Counts transfers, and keeps the last lines for the message of a failure."""
        match = _DOWNLOADED.search(line)
        if match:
            self.files += 1
            self.size += float(match[1]) * _UNITS[match[2]]
            self.current = 0.0
        elif line.startswith("Progress ("):
            self.current = sum(float(number) * _UNITS[unit] for number, unit in _PROGRESS.findall(line))
        elif "Downloading from" not in line:
            self.tail = [*self.tail, line.rstrip()][-_ERROR_LINES:]

    def __str__(self) -> str:
        return f"{self.files} files, {megabytes(int(self.size + self.current))} so far"


def fetch_all() -> Programs:
    """Fetches missing programs, builds our own plug-in, and returns the folders. Raises SetupMissing."""
    java.require()
    with locked_cache() as cache:
        _announce(cache)
        folders = {part.name: fetch(part, cache) for part in PARTS}
        plugin = build_plugin(PLUGIN_PROJECT, cache)
    return Programs(
        kafka=folders["kafka"],
        connect=folders["connect"],
        dynamodb=folders["dynamodb"],
        elasticmq=folders["elasticmq"],
        plugins=(folders["debezium"], plugin),
    )


def _announce(cache: Path) -> None:
    """Says what the first start does, and how long that usually takes."""
    missing = [part for part in PARTS if not _folder(part, cache).is_dir()]
    if missing:
        names = ", ".join(f"{part.brings} ({part.size})" for part in missing)
        say(f"the first start fetches {names}. Usually that takes two to four minutes, and later starts skip it")


@contextmanager
def locked_cache() -> Iterator[Path]:
    """The cache, which no other run fills meanwhile."""
    cache = cache_folder()
    with locked(cache / "lock", busy="waiting for another run that is filling the same cache", wait=True):
        yield cache


def fetch(part: DownloadPart, cache: Path) -> Path:
    """The part's folder in the cache, filled by Maven if it is not there yet."""
    pom, listing = _pom_and_listing(part)
    folder = _folder(part, cache)
    if folder.is_dir():
        return folder
    say(f"fetching {part.brings} (about {part.size}), once, into {display_path(folder)}")

    def fetch_known(work: Path) -> None:
        _copy_dependencies(part, pom, work)
        require_known(work, listing)

    return fill(folder, part.brings, fetch_known)


def _pom_and_listing(part: DownloadPart) -> tuple[Path, Path]:
    return POMS / f"{part.name}.xml", POMS / f"{part.name}.sha256"


def _folder(part: DownloadPart, cache: Path) -> Path:
    return cache / f"{part.name}-{digest(_pom_and_listing(part))}"


def build_plugin(project: Path, cache: Path) -> Path:
    """The folder with our secret provider for Connect, built from its sources when they changed."""
    sources = sorted(path for path in (project / "src" / "main").rglob("*") if path.is_file())
    folder = cache / f"plugin-{digest([project / 'pom.xml', *sources], below=project)}"
    if folder.is_dir():
        return folder
    say("building the secret provider of Kafka Connect from infra/connect")
    return fill(folder, "the secret provider", lambda work: _package(project, work))


def digest(files: Sequence[Path], below: Path | None = None) -> str:
    """Twelve hex digits that change when a file, or (with `below`) its place, changes."""
    hash_ = hashlib.sha256()
    for file in files:
        place = str(file.relative_to(below)) if below else ""
        hash_.update(f"{place}\0{file.stat().st_size}\0".encode() + file.read_bytes())
    return hash_.hexdigest()[:12]


def fill(folder: Path, contents: str, work: Callable[[Path], None]) -> Path:
    """Fills another folder and renames it, so that an interrupted run leaves no partial one."""
    began = time.monotonic()
    unfinished = folder.with_name(folder.name + ".unfinished")
    shutil.rmtree(unfinished, ignore_errors=True)
    unfinished.mkdir(parents=True)
    work(unfinished)
    unfinished.rename(folder)
    size = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
    say(f"{contents}: {megabytes(size)} in {time.monotonic() - began:.1f} s")
    return folder


def _copy_dependencies(part: DownloadPart, pom: Path, into: Path) -> None:
    # Maven writes markers beside the pom; a copy keeps the project's folder clean.
    work = into.with_name(into.name + ".pom")
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir()
    shutil.copy(pom, work / "pom.xml")
    _maven(part.brings, "-f", str(work / "pom.xml"), *part.goal, f"-DoutputDirectory={into}")
    shutil.rmtree(work)


def _package(project: Path, into: Path) -> None:
    """Builds in a copy: two runs, or a run and the plug-in's own tests, must not share a `target` folder."""
    work = into.with_name(into.name + ".sources")
    shutil.rmtree(work, ignore_errors=True)
    shutil.copytree(project, work, ignore=shutil.ignore_patterns("target"))
    _maven("the secret provider", "-f", str(work / "pom.xml"), "package", "-DskipTests")
    jars = sorted((work / "target").glob("*.jar"))
    if len(jars) != 1:
        raise SetupMissing(f"the build of infra/connect left {len(jars)} jars where one was expected.")
    (into / "headgate").mkdir()
    shutil.copy(jars[0], into / "headgate")
    shutil.rmtree(work)


def _maven(contents: str, *arguments: str) -> None:
    transfer = Transfer()
    status = follow(["mvn", *_NO_COLOR, *arguments], transfer.note, lambda: f"{contents}: {transfer}")
    if status != 0:
        output = "\n".join(f"  | {line}" for line in transfer.tail)
        raise SetupMissing(
            f"Maven (status {status}) could not provide {contents}; is its repository reachable?\n{output}"
        )
