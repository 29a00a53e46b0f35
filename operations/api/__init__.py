"""The JSON API of the engine: one class per operation, its Input and Output nested in it."""
