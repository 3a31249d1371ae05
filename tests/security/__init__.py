"""The security goals S1 to S12, measured: python -m tests.security [GOAL ...]"""
