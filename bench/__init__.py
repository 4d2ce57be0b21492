"""The benchmark: how fast each oracle is, against the peers and against the machine. Start it with ``make bench``."""
