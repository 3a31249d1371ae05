"""The memory of a cluster as the texts of several rows, and back."""

import hashlib
import zlib
from collections.abc import Iterable
from dataclasses import replace

from chalicelib.domain.connectors.memory import ClusterMemory, ConnectorMemory
from chalicelib.kit.adapters import adapter
from chalicelib.stores.unreadable import read_or_none

_CONNECTORS_PER_PART = 400
_MAX_PART_CHARACTERS = 1_000_000
"""Of the text of a part before it is compressed to a tenth: 400 connectors of one task have 0.4 million, and so have a
single one with a thousand failed tasks.
"""


def _split(memory: ClusterMemory, number: int) -> list[ClusterMemory]:
    """So many parts: connectors by a hash of their names, what is not about connectors in the first."""
    connectors: list[dict[str, ConnectorMemory]] = [{} for _ in range(number)]
    for name in sorted(memory.connectors):
        connectors[zlib.crc32(name.encode()) % number][name] = memory.connectors[name]
    first = replace(memory, connectors=connectors[0])
    return [first, *(ClusterMemory(connectors=part) for part in connectors[1:])]


def packed(memory: ClusterMemory) -> dict[str, bytes]:
    """Digest -> text of each part, in order. The number is part of the digest, so that no two parts have the same."""
    number, connectors = 1, len(memory.connectors)
    # Doubled, because with one part more almost all connectors would be in another part.
    while number * _CONNECTORS_PER_PART < connectors:
        number *= 2
    texts = _texts(memory, number)
    # In a storm each task has a condition of its own: then the same connectors need more parts.
    while number < connectors and max(map(len, texts)) > _MAX_PART_CHARACTERS:
        number *= 2
        texts = _texts(memory, number)
    return {f"{number}.{hashlib.sha256(text).hexdigest()[:10]}": text for number, text in enumerate(texts)}


def _texts(memory: ClusterMemory, number: int) -> list[bytes]:
    return [adapter(ClusterMemory).dump_json(part, exclude_defaults=True) for part in _split(memory, number)]


def joined(cluster_id: str, bodies: Iterable[bytes]) -> ClusterMemory | None:
    """The memory of a cluster in its parts, each compressed; None when one of them cannot be read."""

    def parse() -> list[ClusterMemory]:
        return [adapter(ClusterMemory).validate_json(zlib.decompress(body)) for body in bodies]

    parts = read_or_none("observation", cluster_id, parse)
    if parts is None:
        return None
    connectors = {name: known for part in parts for name, known in part.connectors.items()}
    return replace(parts[0], connectors=connectors)
