"""What onkel itself is held to: goals of the default learner, and tuned rivals."""
