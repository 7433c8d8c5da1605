"""The trained witness: a linear model over hashed features of a finding, the last to speak."""
