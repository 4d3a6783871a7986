"""What all questions share: finding and reading captures, partial results on disk, files that leave whole."""
