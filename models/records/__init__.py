"""Records that several rooms share: features, manifests, results, runs, errors. No I/O."""
