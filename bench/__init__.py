"""The benchmark: the speed of each oracle, compared with the peers and with the machine. Run it with ``make bench``."""
