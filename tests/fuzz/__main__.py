"""``python -m tests.fuzz``: every target for its share of the time, or coverage-guided with atheris."""

from __future__ import annotations

import argparse
import hashlib
import random
import sys
import time
from pathlib import Path

if "--atheris" in sys.argv:
    import atheris

    with atheris.instrument_imports(include=["lightningalg"]):  # the readers, before anything imports them
        from . import targets  # noqa: F401

from . import mutation
from .run import many, one
from .targets import TARGETS


def guided(name: str, seconds: float, seed: str) -> None:
    """Let atheris (libFuzzer) choose the inputs by the lines that they reach; ends the process."""
    seeds = TARGETS[name].seeds()

    def mutate(data: bytes, most: int, number: int) -> bytes:
        rng = random.Random(number)
        if rng.random() < 0.5:
            return bytes(atheris.Mutate(data, most))
        return mutation.of_file(rng, [data, *seeds] if data else seeds)[:most]

    def examine(data: bytes) -> None:
        fault = one(name, data)
        if fault is not None:
            raise AssertionError(fault.what)

    folder = Path(f"/tmp/lightningalg-fuzz-{name}")
    folder.mkdir(exist_ok=True)
    for data in seeds:
        (folder / hashlib.sha256(data).hexdigest()[:16]).write_bytes(data)
    arguments = [
        sys.argv[0],
        f"-max_total_time={int(seconds)}",
        "-max_len=20000",
        "-timeout=60",
        "-print_final_stats=1",
    ]
    arguments += [f"-seed={int(hashlib.sha256(seed.encode()).hexdigest()[:7], 16)}", str(folder)]
    atheris.Setup(arguments, examine, custom_mutator=mutate)
    atheris.Fuzz()


def main() -> int:
    """Run, print what was found, and write the inputs that were found."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("--seconds", type=float, default=600.0, help="for all targets together (default 600)")
    parser.add_argument(
        "--target", action="append", choices=sorted(TARGETS), help="only this one (may be repeated)"
    )
    parser.add_argument(
        "--seed", default=time.strftime("%Y-%m-%d"), help="decides the inputs (default: today)"
    )
    parser.add_argument(
        "--save", type=Path, default=Path("fuzz-faults"), help="folder for inputs that were found"
    )
    parser.add_argument(
        "--atheris", action="store_true", help="one target, guided by coverage (pip install atheris)"
    )
    options = parser.parse_args()
    names = options.target or list(TARGETS)
    if options.atheris:
        if len(names) != 1:
            parser.error("--atheris needs one --target")
        guided(names[0], options.seconds, options.seed)
    total = 0
    for name in names:
        count, faults = many(name, options.seed, seconds=options.seconds / len(names))
        print(f"{name:22}{count:9} inputs{len(faults):4} faults", flush=True)
        for fault in faults:
            options.save.mkdir(parents=True, exist_ok=True)
            path = options.save / f"{name}-{hashlib.sha256(fault.data).hexdigest()[:12]}"
            path.write_bytes(fault.data)
            print(f"  {path}\n{fault.what}", flush=True)
        total += len(faults)
    return int(total > 0)


if __name__ == "__main__":
    sys.exit(main())
