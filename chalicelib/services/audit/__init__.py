"""The audit trail: its records, its keys, its anchors and its verification, and the bound on records of refusals."""
