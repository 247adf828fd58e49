"""Immutable records that every floor uses. Their terms are in docs/words.md.

Imports only errors.py, and no heavy library.
"""

from .model_call import Message, Reply, Request, Role, Usage
from .ruling import Clause, ClauseCheck, Dispute, Grade, LedgerEntry, Need, NextStep, Ruling
from .run import (
    Ending,
    Failure,
    ForkedFrom,
    RoundRecord,
    RunOutcome,
    RunRecord,
    RunResult,
    RunStatus,
    Strength,
    Survivor,
    TrackRecord,
    Written,
)
from .spec import PROGRAM_FILE, Example, Package, Signature, Spec, SpecLimits, UserModule
from .tests import TRUSTED_ORIGINS, Candidate, CandidateOrigin, Test, TestOrigin, fingerprint
from .verdict import Board, Isolation, Outcome, OutcomeStatus, Refusal, Stopped, TestStrength, Verdict, VerdictKind

__all__ = [
    "PROGRAM_FILE", "TRUSTED_ORIGINS", "Board", "Candidate", "CandidateOrigin", "Clause", "ClauseCheck",
    "Dispute", "Ending", "Example", "Failure", "ForkedFrom", "Grade", "Isolation", "LedgerEntry", "Message",
    "Need", "NextStep", "Outcome", "OutcomeStatus", "Package", "Refusal", "Reply", "Request", "Role",
    "RoundRecord", "Ruling", "RunOutcome", "RunRecord", "RunResult", "RunStatus", "Signature", "Spec",
    "SpecLimits", "Stopped", "Strength", "Survivor", "Test", "TestOrigin", "TestStrength", "TrackRecord",
    "Usage", "UserModule", "Verdict", "VerdictKind", "Written", "fingerprint",
]  # fmt: skip
