"""Certificates: proofs that results are right, where they lie; `run` begins one, the others are its programs."""
