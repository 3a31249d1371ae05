"""What is right and what is worth a warning about a capture, for every kind of database."""
