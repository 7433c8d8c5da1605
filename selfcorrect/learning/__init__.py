"""What recorded runs teach: reading logs, learning repairs, letting a model propose, auditing."""
