"""How many small changes of the program the tests notice; run by ``make mutants``."""
