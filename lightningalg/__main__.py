"""``python -m lightningalg``: the same as the command ``lightningalg``."""

from lightningalg.cli.main import main

if __name__ == "__main__":
    main()
