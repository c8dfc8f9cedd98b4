"""``python -m lightningalg`` and the console script: the command ``lightningalg``.

Imports next to nothing before Ctrl-C is provided for.
"""

import os
import signal


def _leave(number: int, frame: object) -> None:
    """End this process, which has started nothing yet, with the exit code of Ctrl-C."""
    try:
        os.write(2, b"interrupted\n")
    finally:
        os._exit(130)


def main() -> None:
    """Entry point of the console script: Ctrl-C while the program is loaded ends it, without a traceback."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:  # ignored in the background of a shell
        signal.signal(signal.SIGINT, _leave)
    from lightningalg.cli.main import main as command

    command()


if __name__ == "__main__":
    main()
