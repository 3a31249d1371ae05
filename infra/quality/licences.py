"""The licences of everything that is installed from the lock files: python -m infra.quality.licences

Prints one line for each package, and ends with 1 when one has a licence that is not allowed.
"""

import re
import sys
from collections.abc import Iterator, Mapping
from email.message import Message
from email.parser import HeaderParser
from functools import cache
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import Any

from license_expression import ExpressionError, get_spdx_licensing  # type: ignore[import-untyped] # it has no types

ROOT = Path(__file__).parents[2]
LOCKS = ("requirements.txt", "infra/requirements-run.txt", "tests/requirements.txt")
"""For deployment; for running as well; for testing as well."""

ALLOWED: Mapping[str, str] = {
    "MIT": "asks for its notice only",
    "MIT-0": "asks for nothing",
    "BSD-2-Clause": "asks for its notice only",
    "BSD-3-Clause": "asks for its notice only",
    "Apache-2.0": "asks for its notice only",
    "PSF-2.0": "asks for its notice only",
    "CNRI-Python": "asks for its notice only",
    "MPL-2.0": "changes to its own files would have to be published; we make none",
    "LGPL-2.1-or-later": "a library that is used unchanged and can be replaced",
    "LGPL-3.0-only": "a library that is used unchanged and can be replaced",
}
"""SPDX ids, each with the reason why it is accepted."""

_SPDX: Mapping[str, str] = {
    "apache license 2.0": "Apache-2.0",
    "apache 2.0": "Apache-2.0",
    "apache software license": "Apache-2.0",
    "bsd 2-clause license": "BSD-2-Clause",
    "mit license": "MIT",
    "mozilla public license 2.0 (mpl 2.0)": "MPL-2.0",
    "mplv2.0": "MPL-2.0",
    "psfl": "PSF-2.0",
    "dual license": "Apache-2.0 OR BSD-3-Clause",
}
"""The spellings of packages that name no SPDX id. "Dual License" is python-dateutil's."""

_BY_FILE: Mapping[str, str] = dict.fromkeys(("itsdangerous", "jinja2", "mpmath", "sympy"), "BSD-3-Clause")
"""Packages whose metadata say "BSD" alone, with the licence that their file has."""


def licence_of(facts: Message) -> str:
    """The SPDX expression of a package with these metadata; "unknown" when they do not say."""
    if expression := facts.get("License-Expression"):
        return str(expression)
    classifiers = [classifier for classifier in facts.get_all("Classifier", []) if classifier.startswith("License")]
    for text in (facts.get("License") or "", *(classifier.rpartition(" :: ")[2] for classifier in classifiers)):
        spdx = _SPDX.get(text.strip().lower(), text.strip())
        if _parsed(spdx) is not None:
            return spdx
    return "unknown"


def is_allowed(expression: str) -> bool:
    """Whether the alternatives of an SPDX expression leave one that is allowed."""
    licensing, parsed = _licensing(), _parsed(expression)
    if parsed is None:
        return False
    values = {licence: licensing.TRUE if str(licence) in ALLOWED else licensing.FALSE for licence in parsed.literals}
    return bool(parsed.subs(values, simplify=True) == licensing.TRUE)


@cache
def _licensing() -> Any:
    """Knows all licences. To make it takes half a second."""
    return get_spdx_licensing()


def _parsed(expression: str) -> Any:
    """The expression as the library's tree; None when it is none."""
    try:
        return _licensing().parse(expression, validate=True, strict=True)
    except ExpressionError:
        return None


def installed(name: str) -> Message:
    """The metadata of a package. Raises PackageNotFoundError."""
    return HeaderParser().parsestr(distribution(name).read_text("METADATA") or "")


def licences() -> Iterator[tuple[str, str]]:
    """Each package of the lock files that is installed here, with its licence. Some are for other systems only."""
    locked = {name for lock in LOCKS for name in re.findall(r"^([\w.-]+)==", (ROOT / lock).read_text(), re.MULTILINE)}
    for name in sorted(locked):
        try:
            yield name, _BY_FILE.get(name) or licence_of(installed(name))
        except PackageNotFoundError:
            yield name, NOT_HERE


NOT_HERE = "not installed on this system"


def refused() -> list[str]:
    """The packages with a licence that is not allowed."""
    return [f"{name}: {licence}" for name, licence in licences() if licence != NOT_HERE and not is_allowed(licence)]


if __name__ == "__main__":
    for name, licence in licences():
        print(f"{name:28} {licence}")
    for line in refused():
        print(f"NOT ALLOWED: {line}")
    sys.exit(bool(refused()))
