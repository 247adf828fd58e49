"""The start file: `start.py SIDE DESCRIPTOR LENT`. SIDE is the process, such as `test_process`; LENT are paths of
another Python's packages that this one borrows, joined by colons."""

import importlib
import sys

if __name__ == "__main__":
    root = __file__.removesuffix("/inside/start.py")
    sys.path.insert(0, root)
    for package in ("inside", f"inside.{sys.argv[1]}"):  # a warm worker has them from elsewhere
        importlib.import_module(package).__path__ = [f"{root}/{package.replace('.', '/')}"]
    importlib.import_module("inside.lending").lend(sys.argv[3])
    importlib.import_module(f"inside.{sys.argv[1]}.main").main(int(sys.argv[2]))
