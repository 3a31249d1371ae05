"""The Java that the stack's servers run on."""

import re
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

from infra.local.app.errors import SetupMissing

OLDEST = 17
INSTALL = "Install both with `apt-get install openjdk-17-jdk-headless maven`, or run with `--stack sandbox`."


def missing() -> str | None:
    """Why the real stack cannot run on this machine, as a part of a sentence; None when it can."""
    for program, title in (("java", "Java"), ("javac", "the Java compiler"), ("mvn", "Maven")):
        if shutil.which(program) is None:
            return f"{title} ({program}) is not on the PATH"
    version = _major_version()
    if version is None:
        return "`java -version` does not work"
    return None if version >= OLDEST else f"Java {version} is older than {OLDEST}"


def require() -> None:
    """Raises SetupMissing when Java or Maven is missing."""
    reason = missing()
    if reason:
        raise SetupMissing(sentence(reason))


def sentence(reason: str) -> str:
    """The message when the real stack was requested and cannot run."""
    return f"the real stack needs Java {OLDEST} or newer and Maven, but {reason}. {INSTALL}"


def command(main: str, *arguments: str, classpath: Path, heap: str, options: Sequence[str] = ()) -> list[str]:
    """The command line of a server, with a small heap, and only the first compiler, so that it starts fast."""
    return [
        *("java", f"-Xmx{heap}", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Djava.awt.headless=true"),
        *options,
        *("-cp", f"{classpath}/*", main),
        *arguments,
    ]


def _major_version() -> int | None:
    try:
        result = subprocess.run(["java", "-version"], capture_output=True, text=True, timeout=30, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return None
    match = re.search(r'version "(?:1\.)?(\d+)', result.stderr + result.stdout)
    return int(match[1]) if match and result.returncode == 0 else None


if __name__ == "__main__":
    print(missing() or "")
