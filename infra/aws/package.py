"""Builds what is deployed, and checks it.

usage: infra/package [FOLDER]

Leaves `data.json` (the stack of tables, queues and keys), `deployment.zip` (the functions with everything they
import), `template.json` (their stack) and `sbom.cdx.json` (the list of what is in the zip, with licences, in
CycloneDX's format) in FOLDER, by default .headgate/package.
Needs a package index, or a folder of wheels that pip is pointed to; no AWS account and no configuration.

Ends with 0 when all are sound, 1 when they are not (FOLDER is left as it was), 2 when they could not be built.
"""

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory

from infra.aws.bytecode import add_bytecode
from infra.aws.data_stack import data_template
from infra.aws.function_stack import MERGED_TEMPLATE, write_inputs
from infra.aws.sbom import SBOM, sbom
from infra.aws.template_checks import data_faults, template_faults
from infra.aws.zip_checks import SIZE_LIMIT, unzipped_size, zip_faults
from infra.local.stack.layout import HOME, ROOT, display_path

STAGE = "production"
OLDEST = (3, 12)
"""Chalice packages for the Python that runs it, and an older one than this was never tried."""

ZIP, TEMPLATE, DATA_TEMPLATE = "deployment.zip", "template.json", "data.json"
_CHALICE = (sys.executable, "-c", "from chalice.cli import main; main()")
_LEFT_OUT = "Could not install dependencies"
_SECONDS = 600
_MEGABYTE = 1_000_000

Say = Callable[[str], None]


class CannotBuild(Exception):
    """There is no package, for the reason that the message gives."""


def main(arguments: list[str], say: Say) -> int:
    """Builds and checks; returns the exit code."""
    if len(arguments) > 1 or any(word.startswith("-") for word in arguments):
        say(str(__doc__))
        return 0 if arguments in (["--help"], ["-h"]) else 2
    folder = Path(arguments[0]) if arguments else HOME / "package"
    began = time.monotonic()
    with TemporaryDirectory(prefix="headgate-package-") as work:
        try:
            built = build(Path(work), say)
        except CannotBuild as reason:
            say(f"headgate: {reason}")
            return 2
        faults = [
            *zip_faults(built / ZIP, ROOT),
            *template_faults(json.loads((built / TEMPLATE).read_text())),
            *data_faults((built / DATA_TEMPLATE).read_text()),
        ]
        for fault in faults:
            say(f"headgate: FAULT: {fault}")
        if faults:
            say(f"headgate: the package is not sound ({len(faults)} faults); {display_path(folder)} is left as it was")
            return 1
        folder.mkdir(parents=True, exist_ok=True)
        (built / SBOM).write_text(sbom(built / ZIP))
        for name in (ZIP, TEMPLATE, DATA_TEMPLATE, SBOM):
            shutil.move(built / name, folder / name)
    say(_summary(folder, time.monotonic() - began))
    return 0


def build(work: Path, say: Say) -> Path:
    """The folder below `work` with the zip and the templates. Raises CannotBuild."""
    require_python(sys.version_info[:2])
    project, built = work / "project", work / "built"
    stage_project(project)
    say("headgate: building the package (downloads wheels)")
    arguments = ["package", "--stage", STAGE, "--merge-template", MERGED_TEMPLATE, str(built)]
    result = subprocess.run(
        [*_CHALICE, *arguments],
        cwd=project,
        env=clean_environment(os.environ),
        capture_output=True,
        text=True,
        timeout=_SECONDS,
        check=False,
    )
    output = f"{result.stdout}\n{result.stderr}".strip()
    # Chalice ends well even when it leaves a dependency out.
    if result.returncode or _LEFT_OUT in output:
        raise CannotBuild(
            "`chalice package` failed:\n" + "\n".join(f"  | {line}" for line in output.splitlines()[-15:])
        )
    add_bytecode(built / ZIP)
    (built / "sam.json").rename(built / TEMPLATE)
    (built / DATA_TEMPLATE).write_text(json.dumps(data_template()) + "\n")
    return built


def require_python(version: tuple[int, int]) -> None:
    """Raises CannotBuild for a Python that is too old."""
    if version < OLDEST:
        raise CannotBuild(
            f"packaging needs Python {'.'.join(map(str, OLDEST))} or newer, and this environment has "
            f"{'.'.join(map(str, version))}: it would silently leave out the Kafka client. "
            "Put a newer Python on the PATH and run again; the environment is made anew."
        )


def stage_project(project: Path) -> None:
    """Copies what Chalice reads: nothing else can get into the package, and nothing is written beside the code."""
    without_leftovers = shutil.ignore_patterns("__pycache__", "deployments")
    for folder in ("chalicelib", ".chalice"):
        shutil.copytree(ROOT / folder, project / folder, ignore=without_leftovers)
    shutil.copytree(ROOT / "infra" / "docs", project / "chalicelib" / "documents")
    for file in ("app.py", "requirements.txt"):
        shutil.copyfile(ROOT / file, project / file)
    write_inputs(project)


def clean_environment(environment: Mapping[str, str]) -> dict[str, str]:
    """The environment without settings and credentials: a package is the same wherever it is built."""
    clean = {name: value for name, value in environment.items() if not name.startswith(("HEADGATE_", "AWS_"))}
    # No call is made to the region. Chalice wants to know one.
    return {**clean, "AWS_DEFAULT_REGION": "us-east-1", "AWS_EC2_METADATA_DISABLED": "true"}


def _summary(folder: Path, seconds: float) -> str:
    file = folder / ZIP
    zipped, unzipped = file.stat().st_size / _MEGABYTE, unzipped_size(file) / _MEGABYTE
    place = display_path(folder.absolute())
    return (
        f"headgate: {place}/{ZIP}: {zipped:.1f} MB, unzipped {unzipped:.1f} of {SIZE_LIMIT / _MEGABYTE:.0f} MB; "
        f"{place}/{TEMPLATE}: {(folder / TEMPLATE).stat().st_size / 1000:.0f} kB; "
        f"for Python {sys.version_info.major}.{sys.version_info.minor}, sound, in {seconds:.0f} s"
    )


def _say(line: str) -> None:
    sys.stdout.write(line.rstrip() + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:], _say))
