"""The conversation with the language model: templates, answer schemas, engines, ledger."""
