"""``python -m phalanx_core.cli`` is ``phalanx``."""

from phalanx_core.cli import main

main()
