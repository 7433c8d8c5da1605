"""What values that were written down mean: dates and times, numbers and quantities."""
