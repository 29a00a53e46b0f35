"""Backups of the pair (Temporal's file and ours), of the documents, and their way back."""
