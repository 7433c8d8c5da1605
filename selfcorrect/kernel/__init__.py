"""The answers on which everything else relies: pure functions over data, which trust nobody."""
