"""What is handed to others: a dataset folder for the Hugging Face hub, with its card and Croissant metadata."""
