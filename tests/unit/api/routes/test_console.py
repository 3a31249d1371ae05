import json
import re
from collections.abc import Mapping
from hashlib import sha256
from typing import Any

import pytest

from infra.local.stack.layout import ROOT
from tests.support.apps.edge import ClientResponse, make_edge, through_lambda_event

FOLDER = ROOT / "chalicelib" / "console"
MANIFEST: Mapping[str, Any] = json.loads((FOLDER / "manifest.json").read_text())
SEND = through_lambda_event(make_edge().app)


def get(path: str, headers: Mapping[str, str] | None = None) -> ClientResponse:
    return SEND("GET", path, headers or {}, b"")


def directives(response: ClientResponse) -> dict[str, str]:
    policy = str(response.headers["content-security-policy"])
    pairs = (part.strip().partition(" ") for part in policy.split(";"))
    return {name: value for name, _, value in pairs}


def test_the_page_is_asked_for_each_time_and_sent_when_it_has_changed() -> None:
    page = get("/console")
    assert (page.status, page.headers["content-type"]) == (200, "text/html; charset=utf-8")
    assert (page.headers["cache-control"], sha256(page.body.encode()).hexdigest()) == (
        "no-cache",
        MANIFEST["index"]["sha256"],
    )
    again = get("/console", {"if-none-match": str(page.headers["etag"])})
    assert (again.status, again.body, again.headers["etag"]) == (304, "", page.headers["etag"])
    assert directives(again) == directives(page)


def test_the_page_may_load_only_our_own_files_and_make_nothing_out_of_text() -> None:
    assert directives(get("/console")) == {
        "default-src": "'none'",
        "script-src": "'self'",
        "style-src": "'self'",
        "img-src": "'self' data:",
        "connect-src": "'self'",
        "base-uri": "'none'",
        "form-action": "'none'",
        "frame-ancestors": "'none'",
        "require-trusted-types-for": "'script'",
        "trusted-types": "'none'",
    }
    assert "require-trusted-types-for" not in directives(get("/docs/try"))


def test_the_page_names_relative_addresses_of_files_that_exist() -> None:
    page = get("/console").body
    assert re.findall(r"<script(?![^>]*src=)|<style| style=| on[a-z]+=", page) == []
    for name in set(re.findall(r'(?:src|href)="([^"]+)"', page)) - {"data:,"}:
        assert name.removeprefix("console/assets/") in MANIFEST["files"]


@pytest.mark.parametrize("name", MANIFEST["files"])
def test_a_file_is_kept_for_ever_because_its_name_changes_with_it(name: str) -> None:
    listed, file = MANIFEST["files"][name], get(f"/console/assets/{name}")
    assert (file.status, file.headers["content-type"]) == (200, listed["media_type"])
    assert file.headers["cache-control"] == "public, max-age=31536000, immutable"
    assert sha256(file.body.encode()).hexdigest() == listed["sha256"]


@pytest.mark.parametrize(
    "name", ["app-00000000.js", "manifest.json", "index.html", "..%2F__init__.py", "../__init__.py", "LICENSES.txt"]
)
def test_nothing_but_the_files_of_the_manifest_is_served(name: str) -> None:
    unknown = get(f"/console/assets/{name}")
    assert (unknown.status, json.loads(unknown.body)["error"]["code"]) == (404, "NOT_FOUND")
    assert unknown.headers["cache-control"] == "no-store"


def test_the_folder_has_what_the_manifest_lists_and_nothing_else() -> None:
    present = {file.name for file in FOLDER.iterdir()} - {"LICENSES.txt"}
    assert present == {"index.html", "manifest.json", *MANIFEST["files"]}


def test_the_root_leads_a_browser_to_the_console_behind_every_prefix() -> None:
    assert get("/", {"accept": "text/html"}).headers["location"] == "/api/console"
