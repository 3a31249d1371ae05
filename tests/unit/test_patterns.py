"""Every regular expression of the project takes linear time, whatever the text."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest

from chalicelib.api.framework import body_tags
from chalicelib.domain import names
from chalicelib.domain.accounts import email
from chalicelib.domain.diagnosis import candidates
from chalicelib.domain.providers.postgresql.properties import ALLOWED_PROPERTIES
from infra.aws.parameters import PARAMETERS
from infra.local.app import connection
from infra.local.doubles.connect_http import Routes
from infra.local.stack.layout import ROOT
from tests.support.hostile.patterns import Site, sites, slow_text

Pattern = re.Pattern[Any]

COMPUTED: Mapping[str, list[tuple[Pattern, bool]]] = {
    "chalicelib/api/contract/access.py": [(email.ADDRESS, True)],
    "chalicelib/api/framework/body_tags.py": [(body_tags._OBSERVED, True)],
    "chalicelib/domain/debezium.py": [(pattern, False) for pattern in ALLOWED_PROPERTIES.values()],
    "chalicelib/domain/diagnosis/candidates.py": [(pattern, True) for pattern, _ in candidates._COMPILED],
    "chalicelib/domain/names.py": [(names._CONNECTOR, False)],
    "infra/aws/parameters.py": [(re.compile(one.pattern), False) for one in PARAMETERS if one.pattern],
    "infra/local/app/connection.py": [(connection._CORRELATION, True)],
    "infra/local/doubles/connect_http.py": [(pattern, False) for _, pattern, _ in Routes(Mock(), {})._table],
    "infra/local/doubles/connect_faults.py": [],  # what a test asks for
    "infra/local/doubles/connect_checks.py": [],  # the lists of a config, which Debezium compiles as well
}
"""The patterns that are no literals, by the file that compiles them, and whether they search."""
FOUND = sites(ROOT)


@pytest.mark.parametrize("site", [site for site in FOUND if site.text is not None], ids=lambda site: site.place)
def test_a_pattern_takes_linear_time(site: Site) -> None:
    pattern: Pattern = re.compile(site.text, site.flags)  # type: ignore[arg-type]
    assert slow_text(pattern, searches=site.searches) is None


def test_a_computed_pattern_takes_linear_time() -> None:
    slow = {
        pattern.pattern: found
        for patterns in COMPUTED.values()
        for pattern, searches in patterns
        if (found := slow_text(pattern, searches=searches))
    }
    assert slow == {}


def test_every_pattern_that_is_no_literal_is_known() -> None:
    assert {site.file for site in FOUND if site.text is None} == set(COMPUTED)


def test_most_of_the_patterns_are_found() -> None:
    # A finder that finds nothing would pass every other test.
    assert len(FOUND) > 80
    assert {site.file for site in FOUND} >= {"chalicelib/api/framework/inputs.py", "chalicelib/api/contract/common.py"}


@pytest.mark.parametrize(
    ("bad", "searches"),
    [
        (r"^(\w+\s?)*$", False),
        (r"(a|a)*b", False),
        (r"[a-z]*[a-y]*\Z", False),
        (r"\s*\([^)]*\)", True),
        (r"\s+$", True),
        (r"\$\{([^}]*?):(?:([^}]*?):)?([^}]*?)\}", True),
    ],
)
def test_a_pattern_that_takes_longer_is_caught(bad: str, searches: bool) -> None:
    assert slow_text(re.compile(bad), searches=searches) is not None


def test_a_new_pattern_is_found_wherever_it_is(tmp_path: Path) -> None:
    folder = tmp_path / "chalicelib"
    folder.mkdir()
    (folder / "new.py").write_text(
        "import re\n"
        "_WORD = re.compile('a+', re.IGNORECASE)\n"
        "PLACE = re.compile(b'b+')\n"
        "def one(text):\n"
        "    return _WORD.match(text) or PLACE.search(text) or re.fullmatch('c+', text) or re.compile(text)\n"
        "Text = Annotated[str, StringConstraints(pattern=r'^d+$')]\n"
    )
    assert set(sites(tmp_path, ["chalicelib"])) == {
        Site("chalicelib/new.py", 2, "a+", re.IGNORECASE, searches=False),
        Site("chalicelib/new.py", 3, b"b+", 0, searches=True),
        Site("chalicelib/new.py", 6, "^d+$", 0, searches=False),
        Site("chalicelib/new.py", 5, "c+", 0, searches=False),
        Site("chalicelib/new.py", 5, None, 0, searches=True),
    }
