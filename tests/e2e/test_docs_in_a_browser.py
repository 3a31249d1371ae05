"""The pages of the documentation in Chromium: their policy refuses nothing, and the console stays empty."""

import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

import app
from infra.local.app.server import ApiServer

CHROMIUM = shutil.which("chromium")
SWAGGER_UIS_OWN = "escaping deep link whitespace"
"""It warns about each address that names an operation with an underscore."""
pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(CHROMIUM is None, reason="Chromium is not installed: apt-get install chromium"),
]


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    assert list(app.lazy_routes)
    server = ApiServer(app.app, 0)
    server.start()
    yield server.url
    server.stop()


@pytest.mark.parametrize(
    ("page", "shows"),
    [
        ("docs", '<input id="filter"'),
        ("docs#deploy_pipeline", '<details class="operation" id="deploy_pipeline" open'),
        ("docs/try#/Pipelines/deploy_pipeline", 'id="operations-Pipelines-deploy_pipeline"'),
        ("docs/changelog", "Changelog</h1>"),
    ],
)
def test_a_page_is_shown_without_a_word_in_the_console(url: str, page: str, shows: str, tmp_path: Path) -> None:
    options = [
        "--headless=new",
        "--no-sandbox",
        "--disable-gpu",
        "--enable-logging=stderr",
        "--virtual-time-budget=20000",
    ]
    command = [str(CHROMIUM), *options, f"--user-data-dir={tmp_path}", "--dump-dom", f"{url}/{page}"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=180, check=True)
    assert shows in done.stdout
    lines = [line for line in done.stderr.splitlines() if "CONSOLE" in line and SWAGGER_UIS_OWN not in line]
    assert lines == []
