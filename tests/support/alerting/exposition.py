"""Reads Prometheus' text format, version 0.0.4, and refuses what Prometheus or `promtool check metrics` would refuse.

https://prometheus.io/docs/instrumenting/exposition_formats/#text-based-format
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

_NAME = r"[a-zA-Z_:][a-zA-Z0-9_:]*"
_LABEL = r'([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\["\\n])*)"'
_SAMPLE = re.compile(rf"({_NAME})(?:\{{({_LABEL}(?:,{_LABEL})*)\}})? ([0-9.eE+-]+|NaN|[+-]Inf)\Z")
_UNITS = re.compile(r"_(milliseconds|minutes|hours|kilobytes|megabytes|percent)(_|\Z)")
Labels = frozenset[tuple[str, str]]


@dataclass
class Metric:
    """A metric: the values of its series, by name and labels."""

    name: str
    help: str = ""
    type: str = ""
    samples: dict[tuple[str, Labels], float] = field(default_factory=dict)

    def value(self, suffix: str = "", **labels: str) -> float:
        return self.samples[self.name + suffix, frozenset(labels.items())]


def read_exposition(text: str) -> dict[str, Metric]:
    """The metrics by name. Raises AssertionError for what is wrong."""
    assert text.endswith("\n"), "the last line has no end"
    metrics: dict[str, Metric] = {}
    current: Metric | None = None
    for line in text.removesuffix("\n").split("\n"):
        if line.startswith("# "):
            _, keyword, name, said = line.split(" ", 3)
            if keyword == "HELP":
                assert name not in metrics, f"{name} is described twice"
                current = metrics[name] = Metric(name=name, help=said)
            else:
                assert keyword == "TYPE", line
                assert current is not None, line
                assert (current.name, current.type) == (name, ""), line
                assert not current.samples, f"{name} has samples before its type"
                current.type = said
            continue
        match = _SAMPLE.match(line)
        assert match, line
        assert current is not None, line
        labels = re.findall(_LABEL, match[2] or "")
        assert len({label for label, _ in labels}) == len(labels), line
        key = (match[1], frozenset(labels))
        assert key not in current.samples, f"{line} is there twice"
        current.samples[key] = float(match[match.lastindex or 0])
    for metric in metrics.values():
        _check(metric)
    return metrics


def _check(metric: Metric) -> None:
    name = metric.name
    assert metric.help.strip(), f"{name} has no help"
    assert metric.type in ("counter", "gauge", "histogram"), f"{name} is a {metric.type}"
    assert re.fullmatch("[a-z][a-z0-9_]*", name), f"{name} is not in snake case"
    assert not _UNITS.search(name), f"{name} has a unit that is no base unit"
    assert name.endswith("_total") == (metric.type == "counter"), f"{name} is a {metric.type}"
    assert not name.endswith(("_count", "_sum", "_bucket")), name
    assert metric.samples, f"{name} has no series"
    names = {f"{name}_bucket", f"{name}_sum", f"{name}_count"} if metric.type == "histogram" else {name}
    assert {sample for sample, _ in metric.samples} == names
    assert all(value >= 0 for value in metric.samples.values()), name
    if metric.type == "histogram":
        _check_histogram(metric)


def _check_histogram(metric: Metric) -> None:
    buckets: dict[Labels, list[tuple[float, float]]] = {}
    for (sample, labels), value in metric.samples.items():
        if sample.endswith("_bucket"):
            named: Mapping[str, str] = dict(labels)
            rest = frozenset((label, text) for label, text in labels if label != "le")
            buckets.setdefault(rest, []).append((float(named["le"]), value))
        else:
            assert "le" not in dict(labels)
    for rest, found in buckets.items():
        bounds, counts = zip(*found, strict=True)
        assert list(bounds) == sorted(bounds), f"buckets out of order: {bounds}"
        assert bounds[-1] == float("inf"), "there is no bucket for everything"
        assert list(counts) == sorted(counts), f"buckets are not cumulative: {counts}"
        assert metric.samples[f"{metric.name}_count", rest] == counts[-1]
        assert (f"{metric.name}_sum", rest) in metric.samples
