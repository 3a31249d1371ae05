import re
from hashlib import sha256

import pytest

from chalicelib.api.framework.pages import page_names
from tests.support.apps.edge import ClientResponse, make_edge, through_lambda_event

SEND = through_lambda_event(make_edge().app)


def get(path: str, headers: dict[str, str] | None = None) -> ClientResponse:
    return SEND("GET", path, headers or {}, b"")


def assets(page: str = "/docs") -> list[str]:
    folder = page.rpartition("/")[0][1:]
    found = re.findall(r'(?:src="|rel="stylesheet" href=")([^"]+)"', get(page).body)
    return [f"{folder}/{name}".removeprefix("/") for name in found]


def all_assets() -> list[str]:
    return [*assets(), *assets("/docs/try")]


def test_the_page_names_only_addresses_that_exist_and_are_relative() -> None:
    page = get("/docs").body
    targets = set(re.findall(r'(?:src|href)="([^"]+)"', page)) - {"data:,"}
    inside, others = {target for target in targets if target.startswith("#")}, set[str]()
    for target in targets - inside:
        others.add(f"/{target}".partition("#")[0])
    assert others >= {f"/docs/{name}" for name in page_names()} | {f"/{asset}" for asset in assets()} | {"/docs/try"}
    assert {get(target).status for target in others} == {200}
    assert {target[1:] for target in inside} <= set(re.findall(r' id="([^"]+)"', page))


@pytest.mark.parametrize("path", ["/docs", "/docs/try"])
def test_the_page_has_no_inline_script_or_style(path: str) -> None:
    page = get(path)
    assert re.findall(r"<script(?![^>]*src=)", page.body) == []
    assert "<style" not in page.body
    assert " style=" not in page.body
    assert "script-src 'self';" in str(page.headers["content-security-policy"])


def test_scripts_and_styles_have_their_types() -> None:
    types = {
        path.rpartition(".")[2]: str(get(f"/{path}").headers["content-type"]).split(";")[0] for path in all_assets()
    }
    assert types == {"js": "text/javascript", "css": "text/css"}


def test_scripts_and_styles_are_kept_for_ever_by_an_address_that_names_their_text() -> None:
    for path in all_assets():
        response = get(f"/{path}")
        assert response.headers["cache-control"] == "public, max-age=31536000, immutable"
        assert sha256(response.body.encode()).hexdigest().startswith(path.split(".")[-2])
    for unknown in ("/docs/try.js", "/docs/swagger-ui.0123456789abcdef0123456789abcdef.js"):
        assert get(unknown).status == 404


@pytest.mark.parametrize("path", ["/docs", "/docs/try", "/docs/limits.md", "/openapi.json"])
@pytest.mark.parametrize("spelling", ["{}", "W/{}", '"other", {}', "*"])
def test_a_page_that_the_client_has_is_not_sent_again(path: str, spelling: str) -> None:
    page = get(path)
    tag = str(page.headers["etag"])
    again = get(path, {"if-none-match": spelling.format(tag)})
    assert (page.headers["cache-control"], again.status, again.body) == ("no-cache", 304, "")
    assert again.headers["etag"] == tag
    assert get(path, {"if-none-match": '"other"'}).body == page.body


def test_a_page_that_does_not_exist_is_not_kept() -> None:
    assert get("/docs/nothing.md").headers["cache-control"] == "no-store"


def test_the_page_shows_each_operation_with_its_parameters_body_and_answers() -> None:
    page = get("/docs").body
    for operation in ("create_thing", "list_things", "restart_task", "health"):
        assert f'<details class="operation" id="{operation}">' in page
    assert '<a href="#model-ThingInput">ThingInput</a>' in page
    assert "<code>VALIDATION_FAILED</code>" in page


def test_the_document_names_the_stage_of_the_request() -> None:
    assert '"servers":[{"url":"/api"}]' in SEND("GET", "/openapi.json", {}, b"").body


def test_every_document_is_a_page_with_its_headings_and_tables() -> None:
    for name in page_names():
        response = SEND("GET", f"/docs/{name}", {}, b"")
        assert (response.status, str(response.headers["content-type"])) == (200, "text/html; charset=utf-8")
        assert "<h1 id=" in response.body
        assert "<!--" not in response.body
    assert "<table>" in SEND("GET", "/docs/glossary.md", {}, b"").body


def test_links_of_a_page_lead_to_pages_and_to_no_other_files() -> None:
    for name in page_names():
        for target in re.findall(r'<a href="([^"]+)"', SEND("GET", f"/docs/{name}", {}, b"").body):
            path = target.partition("#")[0]
            assert not path or path in page_names() or path.startswith("https://"), (name, target)


def test_an_unknown_page_is_not_found() -> None:
    for name in ("nothing.md", "..%2F..%2Fapp.py", "../app.py"):
        assert SEND("GET", f"/docs/{name}", {}, b"").status == 404
