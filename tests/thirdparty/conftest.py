"""The modules here are packages of other people: only a process of their own imports them."""

collect_ignore_glob = ["plausible_*.py"]
