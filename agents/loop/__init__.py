"""The product: the orchestrator, its state, the plan by effort, strategies."""
