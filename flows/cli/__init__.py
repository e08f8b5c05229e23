"""The command line `prefstudy`."""
