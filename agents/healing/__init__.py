"""Repair of what exists: reproduce a failure in the sandbox, ask for patches, and say what they are worth."""
