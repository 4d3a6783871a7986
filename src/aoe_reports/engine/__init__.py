"""What all questions share: finding and reading captures, partial results, files that leave whole."""
