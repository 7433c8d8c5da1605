"""What the error-strategy map is made of: files, their merging, patterns, captures, binding."""
