"""The steps flows are made of: thin tasks around a call into the rooms below."""
