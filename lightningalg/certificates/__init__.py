"""Certificates: the normative FORMAT.md, evidence records, JSON in and out. Imports only ``errors``."""

from lightningalg.certificates.files import read_certificate, write_atomically
from lightningalg.certificates.records import Certificate, ExponentWitness, MinorWitness, UpperBound
from lightningalg.certificates.sampling import compress_runs, expand_runs, stream_values

__all__ = [
    "Certificate",
    "ExponentWitness",
    "MinorWitness",
    "UpperBound",
    "compress_runs",
    "expand_runs",
    "read_certificate",
    "stream_values",
    "write_atomically",
]
