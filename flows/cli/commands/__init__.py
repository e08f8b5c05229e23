"""The commands of `prefstudy`, one module for each."""
