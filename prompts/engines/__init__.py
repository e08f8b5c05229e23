"""The engines: a model in process, a model behind a server, keyword rules, and a ledger replayed."""
