"""The hypergraph and the algorithms over it."""
