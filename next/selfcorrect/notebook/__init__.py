"""Steps through runs and shows them in notebooks."""
