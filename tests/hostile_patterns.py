"""Every regular expression of the package, and for each of them the long texts that cost it most."""

from __future__ import annotations

import ast
import importlib
import re
import signal
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from random import Random
from re import _constants as constants  # type: ignore[attr-defined]
from re import _parser as parser  # type: ignore[attr-defined]
from types import FrameType
from typing import Any, NamedTuple

from fin_agent.errors import FinAgentError
from fin_agent.lexicon.words import patterns

ROOT = Path(__file__).parents[1]
FOLDERS = {"fin_agent": "fin_agent", "graphs": "fin_agent.graphs", "tools": "fin_agent.tools"}
NOT_OURS_TO_READ = ("fin_agent/evaluation/", "fin_agent/testing/", "fin_agent/training/", "fin_agent/cli/doctor.py")
"""Rooms that see no text of others: benchmarks, and what is installed."""
_REPEATS = (constants.MAX_REPEAT, constants.MIN_REPEAT, constants.POSSESSIVE_REPEAT)
_MANY = 8


class Expression(NamedTuple):
    """A pattern, and where it stands."""

    place: str
    pattern: str
    flags: int


def _is_extra_missing(error: BaseException) -> bool:
    """Whether a module does not load because a package of an extra is not installed."""
    return isinstance(error.__cause__ or error, ModuleNotFoundError)


def expressions() -> tuple[list[Expression], list[str]]:
    """Every pattern that the source gives to `re`, and the places of those that are only made while it runs.

    Modules whose extra is not installed are left out; `make test-extras` has them all.
    """
    found: list[Expression] = []
    made_later: list[str] = []
    for folder, package in FOLDERS.items():
        for file in sorted((ROOT / folder).rglob("*.py")):
            named = file.relative_to(ROOT).as_posix()
            source = file.read_text(encoding="utf-8")
            if "re." not in source or named.startswith(NOT_OURS_TO_READ) or file.stem == "__main__":
                continue
            try:
                module = importlib.import_module(
                    ".".join([package, *file.relative_to(ROOT / folder).with_suffix("").parts])
                )
            except (ImportError, FinAgentError) as error:
                if _is_extra_missing(error):
                    continue
                raise
            for node in ast.walk(ast.parse(source)):
                if not (isinstance(node, ast.Call) and ast.unparse(node.func) in _TAKE_PATTERNS and node.args):
                    continue
                place = f"{named}:{node.lineno}"
                flags = next((each.value for each in node.keywords if each.arg == "flags"), None)
                at = _TAKE_PATTERNS[ast.unparse(node.func)]
                if flags is None and len(node.args) > at:
                    flags = node.args[at]
                try:
                    pattern = eval(ast.unparse(node.args[0]), dict(vars(module)))  # the package's own source
                    given = int(eval(ast.unparse(flags), dict(vars(module)))) if flags is not None else 0
                except NameError:
                    made_later.append(place)
                    continue
                if isinstance(pattern, re.Pattern):
                    continue
                found.append(
                    Expression(place, pattern.decode("latin-1") if isinstance(pattern, bytes) else pattern, given)
                )
    for file in sorted((ROOT / "fin_agent/lexicon/words").glob("*_patterns.yaml")):
        found += (
            Expression(f"{file.relative_to(ROOT)}: {kind}", pattern.pattern, pattern.flags)
            for kind, pattern in patterns(file.stem).items()
        )
    return found, made_later


_TAKE_PATTERNS = {
    "re.compile": 1,
    "re.search": 2,
    "re.match": 2,
    "re.fullmatch": 2,
    "re.findall": 2,
    "re.finditer": 2,
    "re.split": 3,
    "re.sub": 4,
    "re.subn": 4,
}
"""Function -> the place of its flags."""


def hostile_texts(expression: Expression, length: int) -> Iterator[str]:
    """For each part that repeats: what leads to it, that part over and over, and an end that fits nothing."""
    tree = parser.parse(expression.pattern, expression.flags)
    repeats = [node for node in _nodes(tree) if node[0] in _REPEATS and node[1][1] >= _MANY]
    for at, repeat in enumerate(repeats):
        random = Random(f"{expression.pattern} {at}")
        body = [_sample(repeat[1][2], random) or "a" for _ in range(6)]
        lead = _leading(tree, repeat, random)[: length // 2]
        unit, several = body[0], "".join(body)
        for end in ("\x00", ""):
            yield lead + _filled(unit, length - len(lead)) + end
        yield lead + _filled(several, length - len(lead)) + "\x00"
        yield _filled(lead + unit, length) + "\x00"
        yield _filled(lead + several + " ", length) + "\x00"


def seconds_taken(expression: Expression, text: str, most: float) -> float:
    """Seconds that a search takes; `most` where it was stopped."""
    compiled = re.compile(expression.pattern, expression.flags)
    begun = time.process_time()
    try:
        with _stopped_after(most):
            for _ in compiled.finditer(text):
                pass
            compiled.match(text)
    except TimeoutError:
        return most
    return time.process_time() - begun


@contextmanager
def _stopped_after(seconds: float) -> Iterator[None]:
    def raised(number: int, frame: FrameType | None) -> None:
        raise TimeoutError

    before = signal.signal(signal.SIGPROF, raised)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def _filled(unit: str, length: int) -> str:
    return (unit * (length // max(1, len(unit)) + 1))[: max(0, length)]


def _nodes(tree: Any) -> Iterator[tuple[Any, Any]]:
    for op, given in tree:
        yield op, given
        for inner in _inside(op, given):
            yield from _nodes(inner)


def _inside(op: Any, given: Any) -> Sequence[Any]:
    if op in _REPEATS:
        return [given[2]]
    if op is constants.BRANCH:
        return list(given[1])
    if op is constants.SUBPATTERN:
        return [given[3]]
    if op is constants.ATOMIC_GROUP:
        return [given]
    if op in (constants.ASSERT, constants.ASSERT_NOT):
        return [given[1]]
    if op is constants.GROUPREF_EXISTS:
        return [each for each in given[1:] if each is not None]
    return []


def _leading(tree: Any, target: Any, random: Random) -> str:
    """A text that brings the engine to `target`."""
    said = ""
    for op, given in tree:
        if (op, given) == target and given is target[1]:
            return said
        for inner in _inside(op, given):
            if any(given_inside is target[1] for _, given_inside in _nodes(inner)):
                return said + _leading(inner, target, random)
        said += _sample([(op, given)], random)
    return said


def _sample(tree: Any, random: Random) -> str:
    """A text that the tree matches, as far as that can be said without looking around."""
    said = ""
    for op, given in tree:
        if op is constants.LITERAL:
            said += chr(given)
        elif op is constants.NOT_LITERAL:
            said += "a" if given != ord("a") else "b"
        elif op is constants.ANY:
            said += random.choice("a 1")
        elif op is constants.IN:
            said += _one_of(given, random)
        elif op is constants.BRANCH:
            said += _sample(random.choice(given[1]), random)
        elif op in _REPEATS:
            least, most, inner = given
            said += "".join(_sample(inner, random) for _ in range(max(least, min(most, random.randrange(3)))))
        elif op is constants.SUBPATTERN:
            said += _sample(given[3], random)
        elif op is constants.ATOMIC_GROUP:
            said += _sample(given, random)
    return said


_CANDIDATES = "a1 A\t\n.,;:-–—'’$%()/&*_|\xa0é0Zz9x"


def _one_of(members: Any, random: Random) -> str:
    """A sign that a set in brackets takes."""
    fitting = [sign for sign in _CANDIDATES if _takes(members, ord(sign))]
    if fitting:
        return random.choice(fitting[:3])
    for op, given in members:
        if op is constants.LITERAL:
            return chr(given)
        if op is constants.RANGE:
            return chr(given[0])
    return "\u2603"


_CATEGORIES = {
    constants.CATEGORY_DIGIT: str.isdigit,
    constants.CATEGORY_NOT_DIGIT: lambda sign: not sign.isdigit(),
    constants.CATEGORY_SPACE: str.isspace,
    constants.CATEGORY_NOT_SPACE: lambda sign: not sign.isspace(),
    constants.CATEGORY_WORD: lambda sign: sign.isalnum() or sign == "_",
    constants.CATEGORY_NOT_WORD: lambda sign: not (sign.isalnum() or sign == "_"),
}


def _takes(members: Any, code: int) -> bool:
    negated = any(op is constants.NEGATE for op, _ in members)
    inside = any(
        (op is constants.LITERAL and given == code)
        or (op is constants.RANGE and given[0] <= code <= given[1])
        or (op is constants.CATEGORY and _CATEGORIES[given](chr(code)))
        for op, given in members
    )
    return inside is not negated
