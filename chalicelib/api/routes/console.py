"""The browser console: one page and its files."""

from chalicelib.api.framework.console import console_file, index_page
from chalicelib.api.framework.http import Caching, HttpRequest, TextResponse
from chalicelib.api.framework.rendering import HTML_POLICY
from chalicelib.api.framework.router import Router
from chalicelib.domain.access import Permission

console_routes = Router(tag="Console")
POLICY = f"{HTML_POLICY}; require-trusted-types-for 'script'; trusted-types 'none'"
"""Stricter than that of other pages: no script may make elements or scripts out of text."""


@console_routes.get("/console", needs=Permission.PUBLIC, hidden=True, any_query=True)
def console(request: HttpRequest) -> TextResponse:
    """The page. It names its files relatively, which would lead to other addresses below `/console/`."""
    if request.has_slash:
        # own-rule redirect: to this page without the slash, relative and so behind every prefix
        return TextResponse(text="", status=302, headers={"Location": "../console"})
    policy = {"Content-Security-Policy": POLICY}
    media_type = "text/html; charset=utf-8"
    return TextResponse(text=index_page(), media_type=media_type, caching=Caching.WITH_ETAG, headers=policy)


@console_routes.get("/console/assets/{name}", needs=Permission.PUBLIC, hidden=True, any_query=True)
def console_asset(name: str) -> TextResponse:
    """A file of the page, whose name contains a hash of it."""
    text, media_type = console_file(name)
    return TextResponse(text=text, media_type=media_type, caching=Caching.FOR_EVER)
