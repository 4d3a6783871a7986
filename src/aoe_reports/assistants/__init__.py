"""Assistants (programs that talk to a language model) read captures and the store: a server of the Model Context Protocol."""
