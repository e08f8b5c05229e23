"""How well preferences predict: accuracy, discrimination, hold-outs, rankability."""
