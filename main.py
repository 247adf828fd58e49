"""Runs greenloop from a checkout: `python main.py "Implement ..."`."""

import sys

from agents.cli import main

if __name__ == "__main__":
    sys.exit(main())
