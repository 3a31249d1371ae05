"""Which known address somebody probably meant who asked for an unknown one."""

from collections.abc import Iterable

from chalicelib.errors import NotFound
from chalicelib.kit.similar import nearest

MAX_SEGMENTS = 10
"""Of a path that is compared; no route has more."""
_EQUAL, _VARIABLE = 1.0, 0.9


def nothing_here(meant: str | None = None) -> NotFound:
    """The error for an unknown path. `meant` is the template of a route, which is no input."""
    message = "There is nothing at this address. The API is below /api/v1, and /docs lists its addresses."
    if meant is None:
        return NotFound(message)
    return NotFound(f"{message} Did you mean {meant}?", details={"did_you_mean": meant})


def segments_of(path: str) -> list[str]:
    """The segments of a path behind the prefix of the API, or what somebody took for it."""
    segments = [segment for segment in path.split("/")[: MAX_SEGMENTS + 1] if segment]
    while segments and segments[0] in ("api", "v1"):
        segments = segments[1:]
    return segments


def nearest_template(segments: list[str], templates: Iterable[str]) -> str | None:
    """The template with as many segments, each equal or nearly so; None when there is none."""
    scores = {template: _score(segments, segments_of(template)) for template in templates}
    best = max(scores, key=lambda template: scores[template], default=None)
    return best if best is not None and scores[best] > 0 else None


def _score(segments: list[str], template: list[str]) -> float:
    if len(segments) != len(template):
        return 0
    parts = [_segment_score(*pair) for pair in zip(segments, template, strict=True)]
    return sum(parts) if all(parts) else 0


def _segment_score(segment: str, known: str) -> float:
    if segment == known:
        return _EQUAL
    if known.startswith("{"):
        return _VARIABLE
    from difflib import SequenceMatcher

    return SequenceMatcher(None, segment, known).ratio() if nearest(segment, [known]) else 0
