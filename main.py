"""Runs greenloop from a checkout: `python main.py "Implement ..."`."""

import sys

if __name__ == "__main__":
    try:
        from agents.cli import main

        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
