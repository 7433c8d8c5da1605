"""The words of `[[recall]]`: an error without its values, a value by where it comes from."""
