"""`/openapi.json`, the page that shows it, and the documents of `infra/docs`.

The page `/docs` is light and needs no script but a filter. Requests are tried on `/docs/try` with Swagger UI, whose
files come with Powertools: no other host is contacted.
"""

from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path

import aws_lambda_powertools

from chalicelib.api import documentation
from chalicelib.api.documentation.reference import reference
from chalicelib.api.framework.http import Caching, HttpRequest, TextResponse
from chalicelib.api.framework.openapi import Json, as_text
from chalicelib.api.framework.pages import links, page
from chalicelib.api.framework.rendering import text_hash
from chalicelib.api.framework.router import NAME, Router
from chalicelib.domain.access import Permission

TRY = "try"
_HTML = "text/html; charset=utf-8"
_JSON = "application/json; charset=utf-8"
_CSS, _SCRIPT = "text/css; charset=utf-8", "text/javascript; charset=utf-8"
# Scripts are files of their own, because the content security policy forbids inline scripts. Addresses are relative to
# the page, so that they work behind a stage name, too.
_PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="{style}">
</head>
<body>
<nav><a href="{root}docs">reference</a> <a href="{folder}try">try requests</a> {links}</nav>
{content}
{scripts}
</body>
</html>
"""
_CONTENT = """<main>
<p class="filter"><input id="filter" type="search" aria-label="Filter" placeholder="Filter operations by words"></p>
{reference}
</main>"""


def docs_routes(document: Callable[[], Json]) -> Router:
    """The routes of the documentation. `document` builds the OpenAPI document."""
    routes = Router(tag="Documentation")
    built = cache(document)

    @cache
    def text(base: str) -> str:
        return as_text(built(), base)

    @cache
    def docs_page() -> str:
        return _page("docs/", _CONTENT.format(reference=reference(built())), "reference.css", "reference.js")

    @routes.get("/openapi.json", needs=Permission.PUBLIC, hidden=True, any_query=True)
    def openapi(request: HttpRequest) -> TextResponse:
        """The machine-readable description."""
        return TextResponse(text=text(request.base), media_type=_JSON, caching=Caching.WITH_ETAG)

    @routes.get("/docs", needs=Permission.PUBLIC, hidden=True, any_query=True)
    def docs() -> TextResponse:
        """The guide and the reference."""
        return TextResponse(text=docs_page(), media_type=_HTML, caching=Caching.WITH_ETAG)

    @routes.get("/docs/{name}", needs=Permission.PUBLIC, hidden=True, any_query=True)
    def document_page(name: str) -> TextResponse:
        """One document of `infra/docs`, the page to try requests on, or a file of these pages."""
        if (asset := _assets().get(name)) is not None:
            return asset
        shown = _try_page() if name == TRY else page(name)
        return TextResponse(text=shown, media_type=_HTML, caching=Caching.WITH_ETAG)

    return routes


@cache
def _try_page() -> str:
    return _page("", '<div id="swagger-ui"></div>', "swagger-ui.css", "swagger-ui.js", "try.js")


def _page(folder: str, content: str, style: str, *scripts: str) -> str:
    """A page; `folder` is where the files and the documents are, seen from it."""
    names = {_plain(name): folder + name for name in _assets()}
    tags = "\n".join(f'<script src="{names[script]}"></script>' for script in scripts)
    shown = {"title": NAME, "root": "" if folder else "../", "folder": folder, "links": links(folder)}
    return _PAGE.format(**shown, content=content, style=names[style], scripts=tags)


@cache
def _assets() -> Mapping[str, TextResponse]:
    """Styles and scripts by names with a hash: other text has another name."""
    own, swagger_ui = Path(documentation.__file__).parent / "assets", _swagger_ui()
    files = (
        ("reference.css", own / "reference.css"),
        ("reference.js", own / "reference.js"),
        ("swagger-ui.css", swagger_ui / "swagger-ui.min.css"),
        ("swagger-ui.js", swagger_ui / "swagger-ui-bundle.min.js"),
        ("try.js", own / "try.js"),
    )
    return dict(_asset(name, path.read_text(encoding="utf-8")) for name, path in files)


def _asset(name: str, text: str) -> tuple[str, TextResponse]:
    stem, _, suffix = name.rpartition(".")
    media_type = _CSS if suffix == "css" else _SCRIPT
    asset = TextResponse(text=text, media_type=media_type, caching=Caching.FOR_EVER)
    return f"{stem}.{text_hash(text)}.{suffix}", asset


def _plain(name: str) -> str:
    stem, _, suffix = name.split(".")
    return f"{stem}.{suffix}"


def _swagger_ui() -> Path:
    # By path, because importing the package that holds the files would load all of Powertools' event handlers.
    return Path(aws_lambda_powertools.__file__).parent / "event_handler" / "openapi" / "swagger_ui"
