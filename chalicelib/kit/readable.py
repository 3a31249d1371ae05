"""Amounts as people read them."""

_UNITS = (("GB", 1024**3, 1), ("MB", 1024**2, 1), ("KB", 1024, 0))


def readable_size(size: float) -> str:
    """A number of bytes: `1.5 GB`, `3.0 MB`, `12 KB`, `56 bytes`."""
    for unit, of, digits in _UNITS:
        if size >= of:
            return f"{size / of:.{digits}f} {unit}"
    return f"{size:.0f} bytes"


def readable_duration(seconds: int) -> str:
    """A duration to the minute, at least one: `2 h 5 min`, `1 min`."""
    hours, minutes = divmod(max(1, seconds // 60), 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min"
