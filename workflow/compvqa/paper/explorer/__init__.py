"""Pages to look at: sample questions with their images and programs, and all results on one page."""
