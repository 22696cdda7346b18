"""Vocabulary: names, paths, values, documents and errors. Imports nothing else of claimsmith."""
