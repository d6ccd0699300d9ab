"""Programs in any language: rows and their JSON, operators and their types, print. No paper's operators are here."""
