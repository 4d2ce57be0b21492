"""What every layer stands on: exact privacy, randomness, domains, schemes, accumulators, estimates, the codec."""
