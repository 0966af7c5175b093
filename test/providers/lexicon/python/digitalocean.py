from lexicon._private.providers.awkward import Provider  # noqa: F401
