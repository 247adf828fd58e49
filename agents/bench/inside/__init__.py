"""The program that judges by EvalPlus; it runs inside a sandbox."""
