"""Rules on tables: is what one of them says possible? Rows that cannot be are kept out and reported."""
