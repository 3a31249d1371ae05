"""The OpenAPI document as HTML: one entry for each operation and each model, all closed at first."""

import json
import re
from collections.abc import Iterable, Mapping
from html import escape
from typing import Any

from chalicelib.api.documentation.errors import MEANINGS
from chalicelib.api.documentation.guide import GUIDE, FirstStep

Json = dict[str, Any]
_REFERENCE = re.compile(r"#/components/\w+/")
_CODE = re.compile(r"`([^`]+)`")
_BOLD = re.compile(r"\*\*([^*]+)\*\*")
_LINES = re.compile(r"\n- ")
_BOUNDS: Mapping[str, str] = {
    "minimum": "at least",
    "maximum": "at most",
    "minLength": "characters at least",
    "maxLength": "characters at most",
    "minItems": "entries at least",
    "maxItems": "entries at most",
    "pattern": "pattern",
}


def reference(document: Json) -> str:
    """The guide, the groups in their order, and the models. Other pages are beside it in the folder `docs`."""
    parts = [_introduction(document["info"]), _guide(document)]
    parts += [_group(group, document) for group in document["tags"]]
    parts.append(_errors())
    models = "".join(_model(name, model) for name, model in sorted(document["components"]["schemas"].items()))
    parts.append(f'<section><h2 id="models">Models</h2>{models}</section>')
    return "\n".join(parts)


def _introduction(info: Json) -> str:
    first, *lines = _LINES.split(info["description"].strip())
    notes = "".join(f"<li>{_text(line)}</li>" for line in lines)
    heading = f"<h1>{escape(info['title'])} <small>{escape(info['version'])}</small></h1>"
    return f"<section>{heading}<p>{_text(first.strip())}</p><ul>{notes}</ul></section>"


def _guide(document: Json) -> str:
    known = {operation["operationId"] for methods in document["paths"].values() for operation in methods.values()}
    steps = "".join(_step(step, known) for step in GUIDE)
    return f'<section><h2 id="first-steps">First steps</h2><ol>{steps}</ol></section>'


def _step(step: FirstStep, known: set[str]) -> str:
    links = ", ".join(f'<a href="#{name}"><code>{name}</code></a>' for name in step.operations if name in known)
    more = f'<a href="docs/{step.page}">More</a>'
    return f"<li><strong>{step.title}.</strong> {_text(step.text)} {links}. {more}.</li>"


def _group(group: Json, document: Json) -> str:
    entries = [
        _operation(method, path, operation, document)
        for path, methods in document["paths"].items()
        for method, operation in methods.items()
        if group["name"] in operation["tags"]
    ]
    heading = f"<h2>{escape(group['name'])}</h2><p>{_text(group['description'])}</p>"
    return f'<section class="group">{heading}{"".join(entries)}</section>' if entries else ""


def _operation(method: str, path: str, operation: Json, document: Json) -> str:
    name, tag = operation["operationId"], operation["tags"][0].replace(" ", "%20")
    parts = [f"<p>{_text(part)}</p>" for part in operation["description"].split("\n\n")]
    parts.append(f'<p><a href="docs/try#/{tag}/{name}">Try it</a></p>')
    if rows := [_parameter(_resolved(found, document)) for found in operation["parameters"]]:
        parts.append(_table("Parameters", ("name", "in", "type", "meaning"), rows))
    if body := operation.get("requestBody"):
        parts.append(_body(body["content"]["application/json"]))
    rows = [_answer(status, _resolved(answer, document)) for status, answer in operation["responses"].items()]
    parts.append(_table("Answers", ("status", "meaning", "body"), rows))
    verb = f'<code class="method {method}">{method.upper()}</code>'
    summary = f"<summary>{verb} <code>{escape(path)}</code> {_text(operation['summary'])}</summary>"
    return f'<details class="operation" id="{name}">{summary}{"".join(parts)}</details>\n'


def _parameter(parameter: Json) -> tuple[str, ...]:
    required = " (required)" if parameter.get("required") else ""
    name = f"<code>{escape(parameter['name'])}</code>{required}"
    return name, parameter["in"], _type(parameter["schema"]), _text(parameter["description"])


def _body(content: Json) -> str:
    examples = [
        f"<h4>{escape(name)}</h4><pre>{escape(json.dumps(example['value'], indent=2))}</pre>"
        for name, example in content.get("examples", {}).items()
    ]
    return f"<h3>Body</h3><p>{_type(content['schema'])}</p>{''.join(examples)}"


def _answer(status: str, resolved: Json) -> tuple[str, ...]:
    schema = resolved.get("content", {}).get("application/json", {}).get("schema", {})
    codes = schema.get("properties", {}).get("error", {}).get("properties", {}).get("code", {}).get("enum")
    shown = ", ".join(f'<a href="#error-{code}"><code>{code}</code></a>' for code in codes or ())
    # The list of codes behind the first line says the same for readers of the document.
    first = resolved["description"].partition("\n")[0]
    return status, _text(first), shown or (_type(schema) if schema else "")


def _errors() -> str:
    rows = [(f'<code id="error-{code}">{code}</code>', _text(meaning)) for code, meaning in MEANINGS.items()]
    return f'<section><h2 id="errors">Error codes</h2>{_table("", ("code", "meaning"), rows)}</section>'


def _model(name: str, model: Json) -> str:
    required = model.get("required", ())
    rows = [
        (f"<code>{escape(field)}</code>{' (required)' if field in required else ''}", _type(schema), _meaning(schema))
        for field, schema in model.get("properties", {}).items()
    ]
    values = "".join(f"<code>{escape(str(value))}</code> " for value in model.get("enum", ()))
    fields = _table("", ("field", "type", "meaning"), rows) if rows else f"<p>{values}</p>"
    text = _text(model.get("description", ""))
    return f'<details class="model" id="model-{name}"><summary>{name}</summary><p>{text}</p>{fields}</details>\n'


def _meaning(schema: Json) -> str:
    example = next(iter(schema.get("examples", ())), None)
    shown = "" if example is None else f" Example: <code>{escape(json.dumps(example))}</code>"
    return _text(schema.get("description", "")) + shown


def _type(schema: Json) -> str:
    """The type in words, with its bounds; a model is a link to it."""
    if reference := schema.get("$ref"):
        name = _REFERENCE.sub("", reference)
        return f'<a href="#model-{name}">{name}</a>'
    if members := schema.get("anyOf") or schema.get("oneOf"):
        return " or ".join(_type(member) for member in members)
    if "const" in schema:
        return f"<code>{escape(json.dumps(schema['const']))}</code>"
    if schema.get("type") == "array":
        return f"list of {_type(schema['items'])}{_bounds(schema)}"
    kinds = schema.get("type", "any value")
    return escape(" or ".join(kinds) if isinstance(kinds, list) else kinds) + _bounds(schema)


def _bounds(schema: Json) -> str:
    found = [f"{text} {schema[name]}" for name, text in _BOUNDS.items() if name in schema]
    return f" <small>({escape(', '.join(found))})</small>" if found else ""


def _resolved(part: Json, document: Json) -> Json:
    """What a reference to a parameter or an answer names."""
    if (target := part.get("$ref")) is None:
        return part
    _, components, kind, name = target.split("/")
    found: Json = document[components][kind][name]
    return found


def _table(title: str, names: Iterable[str], rows: Iterable[tuple[str, ...]]) -> str:
    heading = f"<h3>{title}</h3>" if title else ""
    first = "".join(f"<th>{name}</th>" for name in names)
    others = "".join(f"<tr>{''.join(f'<td>{cell}</td>' for cell in row)}</tr>" for row in rows)
    return f"{heading}<table><tr>{first}</tr>{others}</table>"


def _text(text: str) -> str:
    """A sentence with words of code and bold words."""
    return _BOLD.sub(r"<strong>\1</strong>", _CODE.sub(r"<code>\1</code>", escape(text, quote=False)))
