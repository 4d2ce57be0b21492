"""The options and help pages of all commands. Importing one loads typer, but neither NumPy nor the command's code."""
