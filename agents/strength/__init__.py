"""How strong a suite is: what of the code it runs, and which changes of the code it notices."""

from __future__ import annotations

from .killing_calls import KillingCall, killing_calls
from .measure import MutantRunner, measure, without_coverage
from .mutants import Mutant, mutants

__all__ = ["KillingCall", "Mutant", "MutantRunner", "killing_calls", "measure", "mutants", "without_coverage"]
