"""What documents and comments name is there: files, folders and modules that are run."""

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from chalicelib.domain.monitoring.own_metrics import OWN_METRICS
from infra.local.stack.layout import ROOT

DOCUMENTS = (
    "README.md",
    "infra/connect/README.md",
    "infra/docs/*.md",
    "infra/decisions/*.md",
    "infra/quality/suite.toml",
)
TOP = "app.py", "chalicelib", "infra", "tests"
ENDINGS = "py|toml|sh|ini|md|java|xml|yaml|txt|mjs"

_CODE = re.compile(r"`([^`\n]+)`")
_FILE = re.compile(rf"(?<![\w.<>/*-])(?:\./)?([\w./-]*\w\.(?:{ENDINGS}))(?![\w<>/*-])")
_FOLDER = re.compile(rf"(?<![\w.<>/*-])(?:\./)?((?:{'|'.join(TOP[1:])})/[\w/-]++)(?![<>*.])")
_MODULE = re.compile(rf"python -m ((?:{'|'.join(TOP[1:])})(?:\.\w+)+)")


def names(text: str) -> Iterator[str]:
    """The paths that a text names between backticks, from the root or from any folder below it.

    A name with a placeholder, such as `chalicelib/services/<noun>.py`, is none.
    """
    for code in _CODE.findall(text):
        yield from _FILE.findall(code)
        yield from (name.rstrip("/") for name in _FOLDER.findall(code))
        yield from (module.replace(".", "/") for module in _MODULE.findall(code))


def missing(text: str) -> list[str]:
    return sorted(
        {name for name in names(text) if not {name, f"{name}.py"} & ends_of_paths() and not is_decision(name)}
    )


def is_decision(name: str) -> bool:
    """Comments name a decision by its number: `infra/decisions/006`."""
    return name.startswith("infra/decisions/") and any(path.startswith(name) for path in ends_of_paths())


@cache
def ends_of_paths() -> frozenset[str]:
    """Every path of the project, also without its first folders: a text names `services/pipelines.py`."""
    files = [path for name in TOP for path in [ROOT / name, *(ROOT / name).rglob("*")]]
    paths = [path.relative_to(ROOT) for path in [*files, *ROOT.glob("*.*")]]
    return frozenset("/".join(path.parts[at:]) for path in paths for at in range(len(path.parts)))


def test_operations_list_every_metric_of_headgate_itself() -> None:
    document = (ROOT / "infra/docs/operations.md").read_text()
    for metric, row in OWN_METRICS.items():
        alarm = "" if row.alarm_above is None else f"over {row.alarm_above:g} for {row.minutes} min"
        assert f"| `{metric}` | {row.meaning} | {row.unit} | {alarm} | {row.action} |" in document, metric


def named(document: Path) -> str:
    return document.relative_to(ROOT).as_posix()


@pytest.mark.parametrize("document", [path for pattern in DOCUMENTS for path in sorted(ROOT.glob(pattern))], ids=named)
def test_every_file_that_a_document_names_exists(document: Path) -> None:
    assert missing(document.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize("folder", ["chalicelib", "infra"])
def test_every_file_that_a_comment_or_docstring_names_exists(folder: str) -> None:
    texts = {path: path.read_text(encoding="utf-8") for path in (ROOT / folder).rglob("*.py")}
    assert {path.relative_to(ROOT): absent for path, text in texts.items() if (absent := missing(text))} == {}


@pytest.mark.parametrize(
    "text",
    [
        "see `services/gone.py`",
        "`chalicelib/monitors/`",
        "run `.headgate/venv/bin/python -m infra.quality.gone`",
        "`./infra/gone.sh` or `infra/test`",
    ],
)
def test_a_name_without_a_file_is_noticed(text: str) -> None:
    assert len(missing(text)) == 1


@pytest.mark.parametrize(
    "text", ["`app.py`", "`infra/test`", "`chalicelib/services/<noun>.py`", "`tests/e2e`", "`test_own_rules.py`"]
)
def test_a_name_with_a_file_or_a_placeholder_is_accepted(text: str) -> None:
    assert missing(text) == []
