"""The pool of processes in which verifiers run, each of which can be ended."""
