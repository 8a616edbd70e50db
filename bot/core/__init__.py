"""Domain types that every other package uses: requests, answers, outcomes, errors and ids."""
