"""State of threads: mailbox, runs, leases, ledger and artifacts."""
