"""Writes what the console's source takes from the API: python -m infra.console.openapi FOLDER

`openapi.json` is the document that the API serves. From it openapi-typescript makes the types of `schema.d.ts`.
`operations.ts` has the method, the path and the permission of each operation, `codes.ts` the codes of each named set,
such as `EventKind`.
"""

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import app
from chalicelib.api.framework.openapi import Json, document

PREFIX = "/api/v1"


def main(folder: Path) -> None:
    built = document(
        [(path, route) for path, route in app.lazy_routes if not route.hidden], title="Headgate", version=""
    )
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "openapi.json").write_text(json.dumps(built, indent=1, sort_keys=True) + "\n")
    (folder / "operations.ts").write_text(operations(built))
    (folder / "codes.ts").write_text(codes(built))


def operations(built: Json) -> str:
    """The module `operations.ts`: a table of the operations under `PREFIX`."""
    rows = "".join(f"  {name}: {json.dumps(row)},\n" for name, row in sorted(_rows(built)))
    return (
        "// Made by infra/console/openapi.py.\n"
        "export const OPERATIONS = {\n"
        + rows
        + "} as const satisfies Record<string, readonly [string, string, string]>;\n"
    )


def codes(built: Json) -> str:
    """The module `codes.ts`: an array for each named set of codes, in the order of the API."""
    schemas = built["components"]["schemas"].items()
    sets = [
        f"export const {name} = {json.dumps(schema['enum'])} as const;\n"
        for name, schema in schemas
        if "enum" in schema
    ]
    return "// Made by infra/console/openapi.py.\n" + "".join(sorted(sets))


def _rows(built: Json) -> Iterator[tuple[str, list[str]]]:
    for path, methods in built["paths"].items():
        for method, operation in methods.items():
            if path.startswith(PREFIX):
                permission = str(operation.get("x-permission", "public"))
                yield operation["operationId"], [method.upper(), path.removeprefix(PREFIX), permission]


if __name__ == "__main__":
    main(Path(sys.argv[1]))
