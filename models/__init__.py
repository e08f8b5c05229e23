"""The mathematics: NumPy in, NumPy out; knows no files, no workflow engine and no language model."""
