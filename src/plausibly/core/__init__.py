"""The foundation of all layers: exact privacy, randomness, domains, schemes, accumulators, estimates, the codec."""
