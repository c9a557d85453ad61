"""Serves models over HTTP, with interfaces that clients already know, and with a page to work with them.

    shelf       the models that are served: loaded, found by languages, loaded again when their folders change
    work        the threads that decode: sentences of all requests in turn
    translate   a text to sentences, and their translations to one
    detect      the language of a text
    keys        API keys, their rights and limits
    guard       what stands before every request: sizes, times, headers, logs, metrics
    asking      what handlers share: fields, errors, rights
    libretranslate, apertium, deepl, own    one interface each
    app         all of them together
    server      the process around it

It needs the extra `web`: pip install treeglot[web].
"""
