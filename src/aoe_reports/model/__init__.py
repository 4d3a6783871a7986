"""Shapes without input or output: errors, findings, texts, columns, time, intervals."""
