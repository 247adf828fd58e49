"""The loop of a run: orchestrator, its state, the plan by effort, strategies."""
