"""The version of the package: the build reads it here, too."""

__version__ = "0.2.0"
