"""Training the last witness: labelled messages become rows, rows become weights."""
