"""The words everybody uses: requests, answers, outcomes, errors, ids."""
