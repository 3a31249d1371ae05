"""Headgate. Changes that users notice are in infra/docs/changelog.md, by this version."""

__version__ = "0.1.0"
"""Of the installation: in `/health`, `/` and the OpenAPI document."""
