"""Assistants (programs that talk to a language model) read captures and the store: a server of the Model Context Protocol.

Only `server` knows the protocol. What it answers is made in processes of its own (`work`), which it can end at any time.
"""
