"""Model APIs: a neutral request in, neutral events out."""
