"""What is worth knowing before a capture from MySQL is created."""

from collections.abc import Sequence

from chalicelib.domain.checks.capture import option_warnings
from chalicelib.domain.connector_config import ConfigWarning
from chalicelib.domain.pipeline import Pipeline
from chalicelib.domain.table import SourceTable


def preview_warnings(pipeline: Pipeline, tables: Sequence[SourceTable]) -> tuple[ConfigWarning, ...]:
    """Everything worth a warning. `tables` are the discovered ones that the pipeline captures."""
    return tuple(option_warnings(pipeline.capture))
