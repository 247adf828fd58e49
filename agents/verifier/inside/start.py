"""The first file run inside: `start.py PART DESCRIPTOR`, with PART `judge` or `subject`."""

import importlib
import sys

if __name__ == "__main__":
    sys.path.insert(0, __file__.removesuffix("/inside/start.py"))
    importlib.import_module("inside").__path__ = [f"{sys.path[0]}/inside"]  # a warm worker has it from elsewhere
    importlib.import_module(f"inside.{sys.argv[1]}").main(int(sys.argv[2]))
