"""Amounts as people read them."""

_GIGABYTE = 1024**3


def readable_size(size: float) -> str:
    """A number of bytes: `1.5 GB`, `3.0 MB`."""
    return f"{size / _GIGABYTE:.1f} GB" if size >= _GIGABYTE else f"{size / 1024**2:.1f} MB"


def readable_duration(seconds: int) -> str:
    """A duration to the minute, at least one: `2 h 5 min`, `1 min`."""
    hours, minutes = divmod(max(1, seconds // 60), 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min"
