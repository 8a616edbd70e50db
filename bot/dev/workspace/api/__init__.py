"""What the app calls: the Web API, files, response URLs and OAuth."""
