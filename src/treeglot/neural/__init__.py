"""The neural joint model: `neural.train` trains it, `neural.options` says how."""

__all__: list[str] = []
