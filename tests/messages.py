"""What a command said that matters."""


def messages(err: str) -> str:
    """The warnings and errors of standard error, without remarks and progress.

    >>> messages("3 rules\\nwarning: no weights\\n")
    'warning: no weights\\n'
    """
    return "".join(line for line in err.splitlines(keepends=True) if line.startswith(("warning:", "error:")))
