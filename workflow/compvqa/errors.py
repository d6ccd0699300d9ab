"""The one kind of error a user is meant to read."""


class InputError(Exception):
    """Something the user gave is wrong: the message says what, where, and what to do, in one sentence.

    The command line prints the message without a stack trace and exits with status 1.
    """
