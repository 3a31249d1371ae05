"""What a call would change, what follows from that, and what is in its way: told by a dry run, kept by the audit."""
