"""The world: variables, what can be done to them, and linear systems of cause and effect."""
