"""Serves models over HTTP, with interfaces that clients already know, and with a page to work with them.

    shelf       holds the models: loads them, finds them by languages, reloads them when their folders change
    work        runs the threads that decode; the requests take turns, sentence by sentence
    translate   splits a text into sentences, and joins their translations
    detect      detects the language of a text
    keys        manages API keys, with their rights and limits
    guard       checks every request first: sizes, times, headers, logs, metrics
    asking      contains what all handlers need: fields, errors, rights
    libretranslate, apertium, deepl, own    each implement one interface
    app         joins all interfaces to one application
    server      runs the application in one or several processes

It needs the extra `web`: pip install treeglot[web].
"""
