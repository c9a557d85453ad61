"""Neural joint models. `neural.train` trains them, and `neural.options` defines their options."""

__all__: list[str] = []
