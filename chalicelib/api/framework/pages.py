"""The documents of `infra/docs` as pages. The package of the functions has them in a folder `documents`."""

import re
from functools import cache
from pathlib import Path

import chalicelib
from chalicelib.errors import NotFound

_CODE = Path(chalicelib.__file__).parent
_PACKAGED = _CODE / "documents"
_FOLDER = _PACKAGED if _PACKAGED.is_dir() else _CODE.parent / "infra" / "docs"
_PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
</head>
<body>
<nav>{links}</nav>
<main>
{body}</main>
</body>
</html>
"""
_SHOWN_LINK = re.compile(r"(https://|#|[a-z-]+\.md(#|$))")
"""Links to other pages, to headings and to other sites. All others lead to files that a browser cannot reach here."""


def page_names() -> tuple[str, ...]:
    return tuple(sorted(file.name for file in _FOLDER.glob("*.md")))


@cache
def page(name: str) -> str:
    """The page of this name, with or without `.md`. Raises NotFound."""
    file = f"{name.removesuffix('.md')}.md"
    if file not in page_names():
        raise NotFound("There is no such page. /docs lists them.")
    text = (_FOLDER / file).read_text(encoding="utf-8")
    title = text.partition("\n")[0].removeprefix("# ")
    return _PAGE.format(title=title, links=links(""), body=_html(text))


def links(folder: str) -> str:
    """A link to each page; `folder` is where they are, seen from the page that shows the links."""
    return " ".join(f'<a href="{folder}{name}">{name.removesuffix(".md")}</a>' for name in page_names())


def _html(text: str) -> str:
    from markdown_it import MarkdownIt

    parser = MarkdownIt("commonmark", {"html": False}).enable("table")
    # Comments mark the commands that a test executes; with `html` off they would be shown.
    tokens = parser.parse(re.sub(r"^<!--.*?-->\n", "", text, flags=re.MULTILINE))
    for index, token in enumerate(tokens):
        if token.type == "heading_open":
            token.attrSet("id", _anchor(tokens[index + 1].content))
        # A link to a file that a browser cannot reach becomes plain text.
        unreachable = False
        for part in token.children or []:
            if part.type == "link_open":
                unreachable = not _SHOWN_LINK.match(str(part.attrGet("href")))
            if unreachable and part.type in ("link_open", "link_close"):
                part.tag, part.attrs = "span", {}
    return str(parser.renderer.render(tokens, parser.options, {}))


def _anchor(heading: str) -> str:
    """The id of a heading, as code hosts make it: lower case, hyphens for blanks."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")
