"""Audit records, and what makes tampering with them visible: chains of records, and signed anchors of their ends."""
