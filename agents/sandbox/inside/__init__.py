"""greenloop's own programs in a sandbox, before and around untrusted code.

They import nothing but the standard library and this package: they start with `python -I -S`, with the directory
above as the last entry of `sys.path`, and every import delays a job.
"""
