"""What a learner holds, to be saved, merged with another, or written for other runtimes."""
