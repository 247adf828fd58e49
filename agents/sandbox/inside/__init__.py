"""Programs that greenloop itself runs inside a sandbox, before and around untrusted code.

Nothing here imports anything beyond the standard library and this package: it is started with
`python -I -S`, with the directory above it as the last entry of `sys.path`, and every import delays a job.
"""
