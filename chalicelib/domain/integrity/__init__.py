"""What makes tampering with the audit trail visible: chains of records, and signed anchors of their ends."""
