"""One target under one engine, in a process of its own: `-m tests.fuzz.worker ENGINE TARGET SEED INPUTS FOLDER`."""

from __future__ import annotations

import sys
from pathlib import Path

from tests.fuzz.watch import Watch


def with_hypothesis(name: str, seed: int, inputs: int, folder: Path) -> None:
    """Inputs that are made from descriptions of their form."""
    import hypothesis

    from tests.fuzz.strategies import STRATEGIES
    from tests.fuzz.targets import TARGETS

    watch = Watch(f"hypothesis-{name}", folder)
    watch.arm()
    target = TARGETS[name]

    @hypothesis.seed(seed)
    @hypothesis.settings(
        max_examples=inputs, database=None, deadline=None, suppress_health_check=list(hypothesis.HealthCheck)
    )
    @hypothesis.given(STRATEGIES[name])
    def run(case: object) -> None:
        watch.run(target, case)

    run()


def with_atheris(name: str, seed: int, inputs: int, folder: Path) -> None:
    """Inputs that are changed by what they reach in the code."""
    import atheris  # type: ignore[import-not-found]  # only `make fuzz` installs it

    with atheris.instrument_imports(include=["claimsmith"]):
        from tests.fuzz import seeds
        from tests.fuzz.bytes_to_input import text_of, transforms_of
        from tests.fuzz.targets import TARGETS

    watch = Watch(f"atheris-{name}", folder)
    watch.arm()
    target = TARGETS[name]
    read = transforms_of if name == "transforms" else text_of
    corpus = folder / "corpus" / name
    corpus.mkdir(parents=True, exist_ok=True)
    words = seeds.TOKENS.get(name) or [*seeds.FORMATS, *seeds.PATTERNS, *seeds.QUANTITIES]
    texts = seeds.TEXTS.get(name) or [
        f"\x05{chr(1 + i % 13)}{chr(1 + i % 7)}\x00{w}\x00{w}" for i, w in enumerate(words)
    ]
    for number, text in enumerate(texts):
        (corpus / f"seed-{number}").write_text(text, encoding="utf-8")
    dictionary = folder / f"{name}.dict"
    dictionary.write_text("".join(f'"{_escaped(w)}"\n' for w in words), encoding="ascii")

    def run(data: bytes) -> None:
        watch.run(target, read(data))

    options = {"seed": seed, "runs": inputs, "max_len": 8192, "dict": dictionary, "verbosity": 0, "rss_limit_mb": 0}
    atheris.Setup([name, *(f"-{k}={v}" for k, v in options.items()), str(corpus)], run)
    atheris.Fuzz()


def _escaped(word: str) -> str:
    return "".join(f"\\x{byte:02x}" for byte in word.encode("utf-8", "replace"))


ENGINES = {"hypothesis": with_hypothesis, "atheris": with_atheris}

if __name__ == "__main__":
    engine, target_name, seed_text, inputs_text, folder_text = sys.argv[1:]
    ENGINES[engine](target_name, int(seed_text), int(inputs_text), Path(folder_text))
