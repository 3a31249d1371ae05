"""Checks the zip of the functions: `chalice package` succeeds even when half of it is missing."""

import hashlib
import json
import platform
import re
import subprocess
import sys
from collections.abc import Iterable, Iterator
from email.parser import HeaderParser
from pathlib import Path
from tempfile import TemporaryDirectory
from zipfile import ZipFile

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

OUR_SUFFIXES = frozenset({".py", ".json", ".toml", ".css", ".js"})
"""Of the files of chalicelib that are deployed: code, and the texts and assets of the documentation."""

CONSOLE = "chalicelib/console/"
"""The built console: its manifest says which files belong to it, and what they contain."""

SIZE_LIMIT = 250 * 1024 * 1024
"""Of an unzipped function (AWS Lambda quotas, "Deployment package size")."""

GLIBC_MINOR = 34
"""Of Amazon Linux 2023, on which the runtimes from Python 3.12 on stand: glibc 2.34."""

RUNTIME_OF_CHALICE = {"chalice/__init__.py", "chalice/app.py"}
"""All that Chalice needs in a function; it puts these two beside the dependencies."""

NATIVE = ("cryptography", "psycopg_binary", "pydantic_core")
"""Packages that are useless without their compiled part."""

_RECORDED_ELSEWHERE = ("../", "/")
_ABI = re.compile(r"\.cpython-(\d+)-(\w+)-linux")
_MANYLINUX = re.compile(r"manylinux_2_(\d+)_x86_64|(manylinux2014_x86_64|manylinux1_x86_64|manylinux2010_x86_64)")
_IMPORTS = """
import sys
sys.path.insert(0, sys.argv[1])
import app, chalicelib.workers.entry, chalicelib.schedules.entry
import kafka.admin, cryptography.hazmat.primitives.ciphers.aead, httpx, psycopg, pymysql, boto3
assert psycopg.pq.__impl__ == "binary", "psycopg without its binary part"
strays = sorted({name.partition(".")[0] for name, module in list(sys.modules.items())
                 if "site-packages" in (getattr(module, "__file__", None) or "")})
assert not strays, f"taken from outside the package: {strays}"
"""


def zip_faults(file: Path, root: Path) -> list[str]:
    """The faults of the zip. `root` is the project's."""
    return [*content_faults(file, root), *import_faults(file)]


def content_faults(file: Path, root: Path) -> list[str]:
    """Files and distributions that are missing from the zip, or do not belong there."""
    with ZipFile(file) as archive:
        everything = {name for name in archive.namelist() if not name.endswith("/")}
        names = {name for name in everything if not name.endswith(".pyc")}
        return [
            *_bytecode_faults(everything),
            *_size_faults(archive),
            *_own_code_faults(names, root),
            *_console_faults(archive, names),
            *_distribution_faults(archive, names, root / "requirements.txt"),
            *_native_faults(archive, names),
        ]


def import_faults(file: Path) -> list[str]:
    """Imports every function from the unzipped package alone, as AWS Lambda does, where this machine is like it."""
    if (platform.system(), platform.machine()) != ("Linux", "x86_64"):
        return []
    with ZipFile(file) as archive, TemporaryDirectory(prefix="headgate-unzipped-") as folder:
        archive.extractall(folder)
        result = subprocess.run(
            [sys.executable, "-I", "-S", "-B", "-c", _IMPORTS, folder],
            env={},
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
    return [f"its functions cannot be imported: {result.stderr.strip().splitlines()[-1]}"] if result.returncode else []


def unzipped_size(file: Path) -> int:
    """Bytes that the zip's contents take."""
    with ZipFile(file) as archive:
        return sum(entry.file_size for entry in archive.infolist())


def expected_distributions(requirements: str, python: str) -> dict[str, str]:
    """The versions that the lock file requires on Linux with this Python (such as 3.13), by name."""
    environment = {
        "python_version": python,
        "python_full_version": f"{python}.0",
        "sys_platform": "linux",
        "platform_system": "Linux",
        "platform_machine": "x86_64",
        "os_name": "posix",
        "implementation_name": "cpython",
        "platform_python_implementation": "CPython",
    }
    lines = (line.rstrip(" \\") for line in requirements.splitlines() if re.match(r"[A-Za-z0-9]", line))
    required = (Requirement(line) for line in lines)
    return {
        canonicalize_name(requirement.name): str(requirement.specifier).removeprefix("==")
        for requirement in required
        if requirement.marker is None or requirement.marker.evaluate(environment)
    }


def _size_faults(archive: ZipFile) -> Iterator[str]:
    size = sum(entry.file_size for entry in archive.infolist())
    if size >= SIZE_LIMIT:
        yield f"it unzips to {size} bytes, and AWS Lambda takes fewer than {SIZE_LIMIT}"


def _own_code_faults(names: set[str], root: Path) -> Iterator[str]:
    ours = {"app.py"} | {
        str(path.relative_to(root))
        for path in (root / "chalicelib").rglob("*")
        if path.suffix in OUR_SUFFIXES and "__pycache__" not in path.parts
    }
    ours = {name for name in ours if not name.startswith(CONSOLE)} | _console_files(root)
    ours |= {f"chalicelib/documents/{path.name}" for path in (root / "infra" / "docs").glob("*.md")}
    yield from _missing("our own code", ours | RUNTIME_OF_CHALICE, names)
    deployed = {name for name in names if name.startswith(("chalicelib/", "chalice/")) or "/" not in name}
    modules = {name for name in deployed if "/" not in name and name.endswith((".py", ".so")) and name != "app.py"}
    yield from _surplus("code that is not ours to deploy", deployed - modules, ours | RUNTIME_OF_CHALICE)


def _console_files(root: Path) -> set[str]:
    """What may be in the folder of the console."""
    manifest = json.loads((root / CONSOLE / "manifest.json").read_text())
    licences = ("LICENSES.txt",) if (root / CONSOLE / "LICENSES.txt").exists() else ()
    return {CONSOLE + name for name in ("index.html", "manifest.json", *licences, *manifest["files"])}


def _console_faults(archive: ZipFile, names: set[str]) -> Iterator[str]:
    """Files of the console in the zip that are not those that its manifest describes."""
    if f"{CONSOLE}manifest.json" not in names:
        return  # this is a fault of its own
    manifest = json.loads(archive.read(f"{CONSOLE}manifest.json"))
    described = {**manifest["files"], "index.html": manifest["index"]}
    changed = {
        name
        for name, entry in described.items()
        if CONSOLE + name in names and hashlib.sha256(archive.read(CONSOLE + name)).hexdigest() != entry["sha256"]
    }
    yield from _surplus("files of the console that its manifest does not describe (build it again)", changed, set())


def _bytecode_faults(names: set[str]) -> Iterator[str]:
    compiled = {_source_of(name) for name in names if name.endswith(".pyc")}
    ours = {name for name in names if name.startswith("chalicelib/") and name.endswith(".py")} | {"app.py"}
    yield from _missing("bytecode of our own code", ours, compiled)
    yield from _surplus("bytecode of nothing", compiled, names)


def _source_of(compiled: str) -> str:
    """The module of `folder/__pycache__/module.cpython-313.pyc`."""
    folder, _, name = compiled.rpartition("/")
    return f"{folder.removesuffix('__pycache__')}{name.partition('.')[0]}.py"


def _distribution_faults(archive: ZipFile, names: set[str], lock: Path) -> Iterator[str]:
    expected = expected_distributions(lock.read_text(), f"{sys.version_info.major}.{sys.version_info.minor}")
    packaged: dict[str, str] = {}
    owned = {"app.py"}
    for name in sorted(name for name in names if name.endswith(".dist-info/METADATA")):
        facts = HeaderParser().parsestr(archive.read(name).decode())
        packaged[canonicalize_name(facts["Name"])] = str(facts["Version"])
        recorded = set(_recorded(archive, name.replace("METADATA", "RECORD")))
        yield from _missing(f"files of {facts['Name']}", recorded, names)
        owned |= recorded
    yield from _missing("distributions", _versions(expected), _versions(packaged))
    yield from _surplus("distributions that nothing asks for", _versions(packaged), _versions(expected))
    orphans = {name for name in names - owned if _is_code(name) and not _apart(name)}
    yield from _surplus("code of no distribution", orphans, set())


def _recorded(archive: ZipFile, record: str) -> Iterator[str]:
    for line in archive.read(record).decode().splitlines():
        path = line.rsplit(",", 2)[0].strip('"')
        if path and not path.startswith(_RECORDED_ELSEWHERE) and not path.endswith(".pyc") and ".data/" not in path:
            yield path


def _native_faults(archive: ZipFile, names: set[str]) -> Iterator[str]:
    compiled = {name for name in names if re.search(r"\.so(\.|$)", name)}
    for package in NATIVE:
        if not any(name.startswith(f"{package}/") for name in compiled):
            yield f"{package} has no compiled part"
    running = f"{sys.version_info.major}{sys.version_info.minor}"
    for name in sorted(compiled):
        match = _ABI.search(name)
        if match and match.groups() != (running, "x86_64"):
            yield f"{name} is for another Python or processor"
    for name in sorted(name for name in names if name.endswith(".dist-info/WHEEL")):
        tags = HeaderParser().parsestr(archive.read(name).decode()).get_all("Tag", [])
        if not any(_runs_on_lambda(tag) for tag in tags):
            yield f"{name.partition('.dist-info')[0]} is built for {', '.join(tags)}, which AWS Lambda is not"


def _runs_on_lambda(tag: str) -> bool:
    if tag.endswith("-any"):
        return True
    match = _MANYLINUX.search(tag)
    return match is not None and int(match[1] or 0) <= GLIBC_MINOR


def _versions(distributions: dict[str, str]) -> set[str]:
    return {f"{name} {version}" for name, version in distributions.items()}


def _is_code(name: str) -> bool:
    return name.endswith((".py", ".so"))


def _apart(name: str) -> bool:
    """Whether it is checked elsewhere, or one of a wheel's scripts, which nothing imports."""
    return name.startswith(("chalicelib/", "chalice/")) or ".data/scripts/" in name


def _missing(kind: str, expected: Iterable[str], present: Iterable[str]) -> Iterator[str]:
    if lacking := sorted(set(expected) - set(present)):
        yield f"{kind}: {_listing(lacking)} missing"


def _surplus(kind: str, present: Iterable[str], expected: Iterable[str]) -> Iterator[str]:
    if surplus := sorted(set(present) - set(expected)):
        yield f"{kind}: {_listing(surplus)}"


def _listing(names: list[str]) -> str:
    count = f" and {len(names) - 5} more" if len(names) > 5 else ""
    return ", ".join(names[:5]) + count
