"""The classifier's phrases: messages of databases, connectors and object stores, and the diagnosis for each.

Phrases are lower case; names and values between quotes are removed before the search (two double quotes or backticks,
or one single quote, stay), and an ellipsis matches anything on the same line. Order matters: the more specific rule
comes first.
"""

from chalicelib.domain.diagnosis.access_rules import ACCESS_RULES
from chalicelib.domain.diagnosis.capture_rules import CAPTURE_RULES
from chalicelib.domain.diagnosis.diagnoses import Rules
from chalicelib.domain.diagnosis.store_rules import LATE_STORE_RULES, STORE_RULES
from chalicelib.domain.diagnosis.target_rules import TARGET_RULES
from chalicelib.domain.diagnosis.worker_rules import LATE_RULES, WORKER_RULES

RULES: Rules = (
    *CAPTURE_RULES,
    *ACCESS_RULES,
    *STORE_RULES,
    *TARGET_RULES,
    *WORKER_RULES,
    *LATE_RULES,
    *LATE_STORE_RULES,
)
"""Phrases for each diagnosis, searched from top to bottom; the first that occurs, and concerns the role, decides."""
