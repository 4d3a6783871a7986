"""The commands that are no questions: a module for each group of them."""
