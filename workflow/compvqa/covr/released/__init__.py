"""Questions that were released, read into the tables that generation would make."""
