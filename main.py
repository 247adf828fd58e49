"""Runs greenloop from a checkout: `python main.py "Implement ..."`."""

import os
import sys
from pathlib import Path

if __name__ == "__main__":
    if sys.flags.safe_path:  # PYTHONSAFEPATH, or -P: this folder is not looked into by itself
        sys.path.insert(0, str(Path(__file__).resolve().parent))
    try:
        from agents.cli import main

        sys.exit(main())
    except ModuleNotFoundError as error:
        if (error.name or "agents").split(".")[0] == "agents":
            raise
        sys.stderr.write(f"{error.name} is not installed; run: python -m pip install -r requirements.txt\n")
        sys.exit(2)
    except KeyboardInterrupt:
        os._exit(130)  # a thread that waits for a model would be waited for
