"""The audit trail's keys, its anchors and its verification, and the bound on records of refusals."""
