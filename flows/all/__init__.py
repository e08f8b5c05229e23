"""Flows over all studies. As a package it is no study itself: those are the modules of `flows/`."""
