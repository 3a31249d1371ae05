"""Java property files, as the broker and the Connect worker read them."""

from collections.abc import Mapping
from pathlib import Path


def write(file: Path, properties: Mapping[str, str]) -> Path:
    """Writes one `key=value` per line. A backslash in a value is doubled, as java.util.Properties needs it."""
    lines = (f"{key}={value}".replace("\\", "\\\\") + "\n" for key, value in properties.items())
    file.write_text("".join(lines))
    return file
