"""The labelled traces: the real cause of each, decided by reading it and not by the classifier.

`traces/public_*.json` holds faults that people reported in public issue threads: server and driver messages as they
were, names, hosts and ids replaced, everything else in our words. A rule comes from lists and sources of the servers,
drivers and connectors, never from such a thread alone. Those of `public_later.json` were collected when the first rules
had been written. `traces/written_*.json` holds traces made from the messages of servers, drivers and connectors, and
`traces/measured_*.json` those of connectors that were made to fail on a real stack.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from chalicelib.domain.names import ConnectorKind

TRACES = Path(__file__).parent / "traces"


OTHER = "OTHER"
"""The label of a trace that the classifier cannot recognise."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Labelled:
    """One trace; `expected` is an event kind or OTHER, `shape` its difficulty. `names` are those of the schema, table,
    constraint and column that the innermost message names, and the SQLSTATE that it has or that its wording means.
    """

    id: str
    provider: str
    role: ConnectorKind
    shape: str
    expected: str
    origin: str
    trace: str
    names: Mapping[str, str] | None = None

    @property
    def public(self) -> bool:
        """Whether it comes from a public issue thread."""
        return self.id.startswith("public_")

    @property
    def later(self) -> bool:
        """Whether it was collected after the rules."""
        return self.id.startswith("public_later")


def load() -> list[Labelled]:
    """All of them, by file and number."""
    rows = [row for path in sorted(TRACES.glob("*.json")) for row in json.loads(path.read_text(encoding="utf-8"))]
    return [Labelled(**{**row, "role": ConnectorKind(row["role"]), "trace": "\n".join(row["trace"])}) for row in rows]
