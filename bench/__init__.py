"""Benchmarks of phalanx_core: ours and a reference in the same run."""
