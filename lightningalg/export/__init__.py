"""Certificates for other proof checkers."""
