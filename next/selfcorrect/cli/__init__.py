"""The commands of `selfcorrect`."""
