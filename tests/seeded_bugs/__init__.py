"""Bugs that are planted one at a time, to see whether the suite catches them: python -m tests.seeded_bugs"""
