import re

from tests.support.edge import make_edge, through_lambda_event

SEND = through_lambda_event(make_edge().app)


def test_the_page_names_only_addresses_that_exist_and_are_relative() -> None:
    page = SEND("GET", "/docs", {}, b"").body
    targets = re.findall(r'(?:src|href)="([^"]+)"', page)
    assert len(targets) == 3
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
