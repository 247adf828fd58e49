"""Text or a file -> a Spec: its signature, examples, trusted tests and limits."""

from .answers import with_answers
from .modules import read_modules, requirements
from .reading import read_spec, read_spec_file, read_tests_file

__all__ = ["read_modules", "read_spec", "read_spec_file", "read_tests_file", "requirements", "with_answers"]
