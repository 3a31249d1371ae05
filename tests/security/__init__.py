"""The security goals S1 to S10, measured: python -m tests.security [GOAL ...]"""
