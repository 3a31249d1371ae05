"""The folders of the console's source import downwards only, and its files stay small."""

import json
import re
from pathlib import Path

import pytest

from infra.local.stack.layout import ROOT

SOURCE = ROOT / "infra" / "console" / "src"
MAX_LINES = 400


BELOW = {
    "": {"screens", "parts", "api", "domain", "kit", "texts", ""},
    "screens": {"screens", "parts", "api", "domain", "kit", "texts"},
    "parts": {"parts", "api", "domain", "kit", "texts"},
    "api": {"api"},
    "domain": {"domain"},
    "kit": {"kit", "api", "texts"},
    "texts": {"texts"},
}
"""The folders that each may import."""


def _sources(pattern: str) -> list[Path]:
    return [path for path in SOURCE.rglob(pattern) if "generated" not in path.parts]


@pytest.mark.parametrize("path", _sources("*.ts*"), ids=lambda path: path.relative_to(SOURCE).as_posix())
def test_a_file_imports_from_its_own_layer_and_those_below(path: Path) -> None:
    relative = path.relative_to(SOURCE)
    own = relative.parts[0] if len(relative.parts) > 1 else ""
    imported = re.findall(r'from "(\.[^"]+)"', path.read_text())
    folders = {(path.parent / name).resolve().relative_to(SOURCE.resolve()).parts for name in imported}
    assert {parts[0] if len(parts) > 1 else "" for parts in folders} <= BELOW[own]


def test_files_are_small() -> None:
    lines = {path: len(path.read_text().splitlines()) for path in (*_sources("*.ts*"), *_sources("*.css"))}
    assert {path.name: count for path, count in lines.items() if count > MAX_LINES} == {}


def test_texts_are_sorted_and_each_is_used() -> None:
    """Groups of codes (`state.RUNNING`) are used by the name of the group, some keys by their beginning, the text of
    one thing (`now.waits_one`) by the key of the text of several.
    """
    texts = json.loads((SOURCE / "texts" / "en.json").read_text())
    assert list(texts) == sorted(texts)
    source = "".join(path.read_text() for path in _sources("*.ts*"))
    quoted = set(re.findall(r'"([a-z_.]+)"', source))
    begun = tuple(re.findall(r"`([a-z_]+\.\w*)\$\{", source))
    keys = {key.removesuffix("_one") if key.removesuffix("_one") in texts else key for key in texts}
    unused = [key for key in keys if f'"{key}"' not in source and key.rpartition(".")[0] not in quoted]
    assert [key for key in unused if not (begun and key.startswith(begun))] == []
