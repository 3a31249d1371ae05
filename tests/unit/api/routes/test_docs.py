import re

from chalicelib.api.framework.pages import page_names
from tests.support.apps.edge import make_edge, through_lambda_event

SEND = through_lambda_event(make_edge().app)


def test_the_page_names_only_addresses_that_exist_and_are_relative() -> None:
    page = SEND("GET", "/docs", {}, b"").body
    targets = re.findall(r'(?:src|href)="([^"]+)"', page)
    assert len(targets) == 3 + len(page_names())
    for target in targets:
        assert SEND("GET", f"/{target}", {}, b"").status == 200


def test_the_page_has_no_inline_script_or_style() -> None:
    page = SEND("GET", "/docs", {}, b"")
    assert re.findall(r"<script(?![^>]*src=)", page.body) == []
    assert "<style" not in page.body
    assert "script-src 'self';" in str(page.headers["content-security-policy"])


def test_scripts_and_styles_have_their_types() -> None:
    types = {path: str(SEND("GET", f"/docs/{path}", {}, b"").headers["content-type"]) for path in (
        "start.js", "swagger-ui.js", "swagger-ui.css",
    )}  # fmt: skip
    assert [kind.split(";")[0] for kind in types.values()] == ["text/javascript", "text/javascript", "text/css"]


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
