"""`/openapi.json`, the page that shows it, and the documents of `infra/docs`.

Script and style of the page come with Powertools: no other host is contacted.
"""

from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path

import aws_lambda_powertools

from chalicelib.api.framework.http import Caching, HttpRequest, TextResponse
from chalicelib.api.framework.openapi import Json, as_text
from chalicelib.api.framework.pages import links, page
from chalicelib.api.framework.rendering import text_hash
from chalicelib.api.framework.router import Router
from chalicelib.domain.access import Permission

TITLE = "Headgate"
_HTML = "text/html; charset=utf-8"
_PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<link rel="stylesheet" href="docs/{style}">
</head>
<body>
<nav>{links}</nav>
<div id="swagger-ui"></div>
<script src="docs/{program}"></script>
<script src="docs/{start}"></script>
</body>
</html>
"""
# A separate script, because the content security policy forbids inline scripts. The address is relative to the page, so
# that it works behind a stage name, too.
_START = """window.ui = SwaggerUIBundle({
  url: "openapi.json",
  dom_id: "#swagger-ui",
  deepLinking: true,
  validatorUrl: null,
  requestInterceptor: (request) => {
    request.headers["X-Correlation-ID"] ??= crypto.randomUUID();
    return request;
  },
});
"""


def docs_routes(document: Callable[[], Json]) -> Router:
    """The routes of the documentation. `document` builds the OpenAPI document."""
    routes = Router(tag="Documentation")

    @cache
    def text(base: str) -> str:
        return as_text(document(), base)

    @routes.get("/openapi.json", needs=Permission.PUBLIC, hidden=True, any_query=True)
    def openapi(request: HttpRequest) -> TextResponse:
        """The machine-readable description."""
        return TextResponse(text=text(request.base), media_type="application/json; charset=utf-8")

    @routes.get("/docs", needs=Permission.PUBLIC, hidden=True, any_query=True)
    def docs() -> TextResponse:
        """The interactive documentation."""
        return TextResponse(text=_page(), media_type=_HTML, caching=Caching.WITH_ETAG)

    @routes.get("/docs/{name}", needs=Permission.PUBLIC, hidden=True, any_query=True)
    def document_page(name: str) -> TextResponse:
        """One document of `infra/docs`, or a file of the interactive documentation."""
        if (asset := _assets().get(name)) is not None:
            return asset
        return TextResponse(text=page(name), media_type=_HTML, caching=Caching.WITH_ETAG)

    return routes


@cache
def _page() -> str:
    style, program, start = _assets()
    return _PAGE.format(title=TITLE, links=links("docs/"), style=style, program=program, start=start)


@cache
def _assets() -> Mapping[str, TextResponse]:
    """The style, the program and the script that starts it, by names with a hash: other text has another name."""
    css, script = "text/css; charset=utf-8", "text/javascript; charset=utf-8"
    texts = (
        ("swagger-ui", "css", css, _swagger_ui("swagger-ui.min.css")),
        ("swagger-ui", "js", script, _swagger_ui("swagger-ui-bundle.min.js")),
        ("start", "js", script, _START),
    )
    return {
        f"{name}.{text_hash(text)}.{suffix}": TextResponse(text=text, media_type=kind, caching=Caching.FOR_EVER)
        for name, suffix, kind, text in texts
    }


def _swagger_ui(name: str) -> str:
    # By path, because importing the package that holds the files would load all of Powertools' event handlers.
    folder = Path(aws_lambda_powertools.__file__).parent / "event_handler" / "openapi" / "swagger_ui"
    return (folder / name).read_text(encoding="utf-8")
