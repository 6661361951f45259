"""What all models share: the contract, the transaction, the warm-up, labels."""
