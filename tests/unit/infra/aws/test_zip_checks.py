"""The checks of the zip find what would hurt."""

import hashlib
import json
import sys
from collections.abc import Callable
from pathlib import Path
from zipfile import ZIP_DEFLATED, ZipFile

import pytest

from infra.aws.zip_checks import (
    CONSOLE,
    NATIVE,
    SIZE_LIMIT,
    content_faults,
    expected_distributions,
    import_faults,
    unzipped_size,
)

RUNNING = f"{sys.version_info.major}{sys.version_info.minor}"
LOCK = """\
alpha==1.0 \\
    --hash=sha256:00
beta==2.0 ; sys_platform == 'win32' \\
    --hash=sha256:00
gamma-ray==3.0 ; implementation_name != 'pypy' and python_full_version >= '3.11' \\
    --hash=sha256:00
"""
Files = dict[str, str]


def distribution(name: str, version: str, files: Files, tag: str = "py3-none-any") -> Files:
    info = f"{name.replace('-', '_')}-{version}.dist-info"
    record = "".join(f"{path},,\n" for path in (*files, f"{info}/METADATA", f"{info}/WHEEL", f"{info}/RECORD"))
    return {
        **files,
        f"{info}/METADATA": f"Metadata-Version: 2.4\nName: {name}\nVersion: {version}\n\nText.\n",
        f"{info}/WHEEL": f"Wheel-Version: 1.0\nTag: {tag}\n",
        f"{info}/RECORD": record + "../../bin/tool,,\n__pycache__/x.pyc,,\n",
    }


def bytecode(*modules: str) -> Files:
    named = (module.rpartition("/") for module in modules)
    return {
        f"{folder}{slash}__pycache__/{name.removesuffix('.py')}.cpython-{RUNNING}.pyc": ""
        for folder, slash, name in named
    }


def console(**more: str) -> Files:
    """The files of a console with one script, by their paths in the project; `more` are files in its folder."""
    script, page = "start();", "<script src=console/assets/app-1.js></script>"
    hashes = {text: hashlib.sha256(text.encode()).hexdigest() for text in (script, page)}
    listed = {"app-1.js": {"media_type": "text/javascript; charset=utf-8", "sha256": hashes[script]}}
    manifest = json.dumps({"files": listed, "index": {"sha256": hashes[page]}})
    files = {"app-1.js": script, "index.html": page, "manifest.json": manifest, **more}
    return {CONSOLE + name: text for name, text in files.items()}


def sound() -> Files:
    native = {f"{package}/_native.cpython-{RUNNING}-x86_64-linux-gnu.so": "" for package in NATIVE}
    return {
        "app.py": "",
        "chalice/__init__.py": "",
        "chalice/app.py": "",
        "chalicelib/__init__.py": "",
        "chalicelib/kit/ids.py": "",
        **console(),
        **bytecode("app.py", "chalicelib/__init__.py", "chalicelib/kit/ids.py", "alpha.py"),
        **distribution("alpha", "1.0", {"alpha.py": "", "alpha_data/list.txt": ""}),
        **distribution("gamma-ray", "3.0", native, f"cp{RUNNING}-cp{RUNNING}-manylinux_2_28_x86_64"),
    }


@pytest.fixture
def project(tmp_path: Path) -> Path:
    root = tmp_path / "project"
    for name in (
        "app.py",
        "chalicelib/__init__.py",
        "chalicelib/kit/ids.py",
        "chalicelib/__pycache__/old.py",
    ):
        file = root / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.touch()
    (root / "requirements.txt").write_text(LOCK)
    (root / CONSOLE).mkdir()
    for name, text in console().items():
        (root / name).write_text(text)
    return root


def zipped(folder: Path, files: Files) -> Path:
    with ZipFile(folder / "deployment.zip", "w", ZIP_DEFLATED) as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    return folder / "deployment.zip"


def renamed(old: str, new: str) -> Callable[[Files], object]:
    def rename(files: Files) -> None:
        found = next(name for name in files if name.startswith(old))
        files[new] = files.pop(found)

    return rename


def foreign(tag: str) -> Callable[[Files], object]:
    wheel = "gamma_ray-3.0.dist-info/WHEEL"
    return lambda files: files.update({wheel: f"Wheel-Version: 1.0\nTag: {tag}\n"})


SPOILT: dict[str, tuple[Callable[[Files], object], str]] = {
    "no app": (lambda f: f.pop("app.py"), "our own code: app.py missing"),
    "a module is missing": (
        lambda f: f.pop("chalicelib/kit/ids.py"),
        "chalicelib/kit/ids.py missing",
    ),
    "no bytecode": (renamed("chalicelib/kit/__pycache__/", "chalicelib/kit/__pycache__/x.pyc"), "bytecode of our own"),
    "bytecode of another module": (lambda f: f.update(bytecode("chalicelib/old.py")), "bytecode of nothing"),
    "no runtime of Chalice": (lambda f: f.pop("chalice/app.py"), "chalice/app.py missing"),
    "the whole of Chalice": (lambda f: f.update({"chalice/cli/__init__.py": ""}), "not ours to deploy"),
    "a file that is not code": (lambda f: f.update({"chalicelib/notes.txt": ""}), "not ours to deploy"),
    "a file of another build of the console": (
        lambda f: f.update({f"{CONSOLE}app-0.js": ""}),
        "not ours to deploy: chalicelib/console/app-0.js",
    ),
    "a map of the console's code": (lambda f: f.update({f"{CONSOLE}app-1.js.map": ""}), "not ours to deploy"),
    "a file of the console is missing": (lambda f: f.pop(f"{CONSOLE}app-1.js"), "console/app-1.js missing"),
    "no page of the console": (lambda f: f.pop(f"{CONSOLE}index.html"), "console/index.html missing"),
    "no manifest of the console": (lambda f: f.pop(f"{CONSOLE}manifest.json"), "console/manifest.json missing"),
    "another script in the console": (
        lambda f: f.update({f"{CONSOLE}app-1.js": "steal();"}),
        "manifest does not describe (build it again): app-1.js",
    ),
    "another page of the console": (
        lambda f: f.update({f"{CONSOLE}index.html": "<p>"}),
        "manifest does not describe (build it again): index.html",
    ),
    "tests": (lambda f: f.update({"tests/test_all.py": ""}), "code of no distribution: tests/test_all.py"),
    "a distribution is missing": (lambda f: f.pop("alpha-1.0.dist-info/METADATA"), "distributions: alpha 1.0 missing"),
    "another version": (
        lambda f: f.update(distribution("alpha", "1.1", {})),
        "distributions that nothing asks for: alpha 1.1",
    ),
    "a tool of the developers'": (
        lambda f: f.update(distribution("moto", "5.2.5", {"moto/__init__.py": ""})),
        "distributions that nothing asks for: moto 5.2.5",
    ),
    "half a distribution": (lambda f: f.pop("alpha_data/list.txt"), "files of alpha: alpha_data/list.txt missing"),
    "nothing compiled": (
        renamed("psycopg_binary/", "psycopg_binary/_native.py"),
        "psycopg_binary has no compiled part",
    ),
    "compiled for another Python": (
        renamed("pydantic_core/", "pydantic_core/_native.cpython-38-x86_64-linux-gnu.so"),
        "is for another Python or processor",
    ),
    "compiled for another processor": (
        renamed("pydantic_core/", f"pydantic_core/_native.cpython-{RUNNING}-aarch64-linux-gnu.so"),
        "is for another Python or processor",
    ),
    "a wheel for a newer system": (foreign("cp313-cp313-manylinux_2_39_x86_64"), "which AWS Lambda is not"),
    "a wheel for another system": (foreign("cp313-cp313-macosx_11_0_arm64"), "which AWS Lambda is not"),
    "a wheel for Alpine": (foreign("cp313-cp313-musllinux_1_2_x86_64"), "which AWS Lambda is not"),
}


def test_a_sound_zip_has_no_faults(project: Path, tmp_path: Path) -> None:
    assert content_faults(zipped(tmp_path, sound()), project) == []


@pytest.mark.parametrize("name", SPOILT)
def test_a_fault_is_found(project: Path, tmp_path: Path, name: str) -> None:
    spoil, expected = SPOILT[name]
    files = sound()
    spoil(files)
    found = content_faults(zipped(tmp_path, files), project)
    assert any(expected in fault for fault in found), found


@pytest.mark.parametrize("tag", ["py3-none-any", "cp39-abi3-manylinux2014_x86_64", "cp313-cp313-manylinux_2_34_x86_64"])
def test_wheels_for_the_runtime_are_none(project: Path, tmp_path: Path, tag: str) -> None:
    files = sound()
    foreign(tag)(files)
    assert content_faults(zipped(tmp_path, files), project) == []


def test_the_licences_of_the_console_belong_to_it_when_there_are_some(project: Path, tmp_path: Path) -> None:
    files = {**sound(), f"{CONSOLE}LICENSES.txt": "MIT"}
    assert any("not ours to deploy" in fault for fault in content_faults(zipped(tmp_path, files), project))
    (project / CONSOLE / "LICENSES.txt").write_text("MIT")
    assert content_faults(zipped(tmp_path, files), project) == []
    assert any("LICENSES.txt missing" in fault for fault in content_faults(zipped(tmp_path, sound()), project))


def test_a_zip_that_is_too_large_when_unzipped_is_one(project: Path, tmp_path: Path) -> None:
    file = zipped(tmp_path, sound())
    with ZipFile(file, "a", ZIP_DEFLATED) as archive, archive.open("large.txt", "w") as large:
        for _ in range(26):
            large.write(bytes(10_000_000))
        large.write(bytes(SIZE_LIMIT - 260_000_000))
    assert unzipped_size(file) >= SIZE_LIMIT
    assert any("AWS Lambda takes fewer" in fault for fault in content_faults(file, project))


def test_functions_that_cannot_be_imported_are_found(tmp_path: Path) -> None:
    faults = import_faults(zipped(tmp_path, sound()))
    assert len(faults) == 1
    assert faults[0].startswith("its functions cannot be imported: ")


def test_markers_of_the_lock_decide_for_linux() -> None:
    assert expected_distributions(LOCK, "3.13") == {"alpha": "1.0", "gamma-ray": "3.0"}
