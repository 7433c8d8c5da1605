"""What everything else relies on: small pure functions that trust nobody who calls them."""
