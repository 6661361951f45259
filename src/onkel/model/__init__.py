"""What all models share: the contract, the guard, the warm-up, labels."""
