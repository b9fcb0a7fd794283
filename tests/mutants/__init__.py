"""Counts the small changes of the program that tests notice; run by ``make mutants``."""
