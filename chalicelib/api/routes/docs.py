"""`/openapi.json`, the page that shows it, and the documents of `infra/docs`.

Script and style of the page come with Powertools: no other host is contacted.
"""

from collections.abc import Callable
from functools import cache
from pathlib import Path

import aws_lambda_powertools

from chalicelib.api.framework.http import HttpRequest, TextResponse
from chalicelib.api.framework.openapi import Json, as_text
from chalicelib.api.framework.pages import links, page
from chalicelib.api.framework.router import Router
from chalicelib.domain.access import Permission

TITLE = "Headgate"
_PAGE = f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{TITLE}</title>
<link rel="stylesheet" href="docs/swagger-ui.css">
</head>
<body>
<nav>{links("docs/")}</nav>
<div id="swagger-ui"></div>
<script src="docs/swagger-ui.js"></script>
<script src="docs/start.js"></script>
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
        return TextResponse(text=_PAGE, media_type="text/html; charset=utf-8")

    @routes.get("/docs/start.js", needs=Permission.PUBLIC, hidden=True, any_query=True)
    def docs_start() -> TextResponse:
        """The script that starts the page."""
        return TextResponse(text=_START, media_type="text/javascript; charset=utf-8")

    @routes.get("/docs/swagger-ui.js", needs=Permission.PUBLIC, hidden=True, any_query=True)
    def docs_script() -> TextResponse:
        """The page's program."""
        return TextResponse(text=_swagger_ui("swagger-ui-bundle.min.js"), media_type="text/javascript; charset=utf-8")

    @routes.get("/docs/swagger-ui.css", needs=Permission.PUBLIC, hidden=True, any_query=True)
    def docs_style() -> TextResponse:
        """The page's style."""
        return TextResponse(text=_swagger_ui("swagger-ui.min.css"), media_type="text/css; charset=utf-8")

    @routes.get("/docs/{name}", needs=Permission.PUBLIC, hidden=True, any_query=True)
    def document_page(name: str) -> TextResponse:
        """One document of `infra/docs`."""
        return TextResponse(text=page(name), media_type="text/html; charset=utf-8")

    return routes


@cache
def _swagger_ui(name: str) -> str:
    # By path, because importing the package that holds the files would load all of Powertools' event handlers.
    folder = Path(aws_lambda_powertools.__file__).parent / "event_handler" / "openapi" / "swagger_ui"
    return (folder / name).read_text(encoding="utf-8")
