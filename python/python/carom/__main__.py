"""``python -m carom``: the command line, the same bytes and exit status."""

from __future__ import annotations

import signal
import sys

from . import _native


def main() -> int:
    """Runs the command line on the arguments of the process."""
    # Ctrl-C ends the process, as it does for the binary.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    sys.stdout.flush()
    return _native.main([sys.executable, "-m", "carom"], ["carom", *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())
