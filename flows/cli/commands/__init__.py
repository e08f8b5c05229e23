"""The commands of `prefstudy`, one module each."""
