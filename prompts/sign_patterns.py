"""What texts that speak to a model look like, put together from the phrases of `injection_words.yaml`."""

from __future__ import annotations

import re
from enum import StrEnum
from functools import lru_cache

from fin_agent.lexicon.words import word_lists


class SignKind(StrEnum):
    """What a text tries."""

    IGNORE = "instruction to ignore"
    ROLE = "fake role or system message"
    TOOL = "request to call a tool"
    REVEAL = "request to reveal the prompt"
    ANSWER = "answer dictated"
    FENCE = "fence broken"
    INVISIBLE = "invisible text"
    ENCODED = "encoded text"
    EXFILTRATION = "link that carries text away"


@lru_cache(maxsize=1)
def sign_patterns() -> tuple[tuple[SignKind, re.Pattern[str]], ...]:
    """Patterns over text in lower case; where one has a group `sign`, that is what stands for it."""
    words = {name: _any_of(phrases) for name, phrases in word_lists("injection_words").items()}
    return tuple((kind, re.compile(pattern.format(**_PIECES, **words))) for kind, pattern in _PATTERNS)


def _any_of(phrases: frozenset[str]) -> str:
    """One of the phrases, the longest first, whatever white space stands between their words."""
    ordered = sorted(phrases, key=lambda phrase: (-len(phrase), phrase))
    return "(?:" + "|".join(r"\s+".join(map(re.escape, phrase.split())) for phrase in ordered) + ")"


_PIECES = {
    "near": r"(?:[\s,\"'*_]+[\w'-]+){0,3}?[\s,\"'*_:]+",
    "far": r"(?:[\s,\"'*_]+[\w'-]+){0,6}?[\s,\"'*_:]+",
    "head": r"(?:^|\n)[ \t>#*\[(=-]{0,20}",
    "only": r"(?:\s+(?:with|only|exactly|just|simply|as|the\s+(?:number|figure|value)))*[\s:]+",
    "rule": r"(?:\#{2,5}|={2,9}|\*{2,5})",
    "figure": r"[\"'$-]*\d(?:[\d,.]*\d)?%?[\"']*",
    "ends": (
        r"(?=\s*(?:$|[.!;\n\"')]|\w*illion|percent|dollars|usd|no\s+matter|as\s+the\s+(?:result|answer|value)"
        r"|to\s+(?:every|any|all|the|this|each)\b))"
    ),
    "word_only": r"(?:yes|no|true|false|word|number|figure|phrase|sentence|string|text|[\"'])",
}
_PATTERNS = (
    (SignKind.IGNORE, r"\b{ignoring}{near}{which}{near}{instructions}\b"),
    (SignKind.IGNORE, r"\b{ignoring}\s+(?:{all_before}|{asked})\b"),
    (SignKind.IGNORE, r"\b{ignoring}\s+your\s+(?:\w+\s+)?{guidance}\b"),
    (SignKind.IGNORE, r"\b(?:ignore|disregard|forget)\s+(?:\w+\s+){{0,2}}{earlier}\s+{written}\b"),
    (SignKind.IGNORE, r"\b(?:supersedes?|overrides?|replaces?)\s+your\s+(?:\w+\s+)?(?:{guidance}|{instructions})\b"),
    (SignKind.IGNORE, r"\b(?:your|previous|prior|earlier|all|these)\s+(?:\w+\s+)?{instructions}\s+{changed}\b"),
    (SignKind.IGNORE, r"\b{ignoring_said}\b"),
    (SignKind.IGNORE, r"(?<!\w){ignoring_elsewhere}{near}{instructions_elsewhere}"),
    (SignKind.ROLE, r"{head}(?P<sign>{roles}(?:\s+{messages})?[\])*]*\s*:)\s*{begins_order}\b"),
    (SignKind.ROLE, r"{head}(?P<sign>{machine_roles}\s+{messages})\b"),
    (SignKind.ROLE, r"(?:^|\n)[ \t]{{0,20}}(?P<sign>\[{machine_roles}\]|\#\#\#\s*{exchange})"),
    (SignKind.ROLE, r"(?:^|\n)[ \t]{{0,20}}(?P<sign>{rule}\s*{machine_roles}\s*{rule})"),
    (SignKind.ROLE, r"{head}(?P<sign>(?:to\s+)?(?:all|any|the)\s+{addressees}\b[^.:\n]{{0,40}}:)"),
    (SignKind.ROLE, r"{head}(?P<sign>(?:assistant|chatbot|llm|language\s+model)\s+{obliged})\b"),
    (SignKind.ROLE, r"\b(?:human|user)\s*:[^\n]{{0,200}}\s(?P<sign>(?:assistant|ai)\s*:)"),
    (SignKind.ROLE, r"\b{machines}\s+{reading}\b"),
    (SignKind.ROLE, r"\b(?:the|this|you,)\s+{machines_alone}\s+{obliged}\s+(?:now\s+)?{begins_order}\b"),
    (SignKind.ROLE, r"\b{addressing}(?:\s+(?:all|any|the|every))?\s+{addressees}\b"),
    (SignKind.ROLE, r"\b{role_said}\b"),
    (SignKind.TOOL, r"\b{calling}{near}{tools}\b"),
    (SignKind.TOOL, r"(?<!\w){tool_names}"),
    (SignKind.REVEAL, r"\b{revealing}{near}{secrets}\b"),
    (SignKind.REVEAL, r"\b{reveal_said}\b"),
    (SignKind.ANSWER, r"\b{answering}{only}{figure}{ends}"),
    (SignKind.ANSWER, r"\b{answering}(?:\s+(?:only|exactly|just))?\s+with\s+(?:the\s+)?{word_only}"),
    (SignKind.ANSWER, r"\b{answering}\s+(?:only|exactly|just|nothing\s+but)\s+(?:with\s+\w+|{word_only})"),
    (SignKind.ANSWER, r"\byour\s+(?:final\s+|only\s+)?(?:answer|reply|output)\s+(?:is|{obliged}|shall|will)\b"),
    (SignKind.ANSWER, r"\balways\s+respond\s+(?:with\b|[\"'])"),
    (SignKind.ANSWER, r"\b{when_asked}[^.\n]{{0,60}}?\b{telling}\b"),
    (SignKind.ANSWER, r"(?<!\w){answer_said}"),
    (SignKind.ANSWER, r"[\"']?\b{reply_fields}[\"']?\s*:\s*[\[{{\"'tfn]"),
    (SignKind.FENCE, r"</?\s*{marks}(?:-\w+)?[\s\"=\w]{{0,80}}>|<[|｜][\w ]{{1,40}}[|｜]>|\[/?inst\]|<</?sys>>|<!--"),
    (SignKind.FENCE, r"\b{fence_said}\b"),
    (SignKind.EXFILTRATION, r"!\[[^\]\n]{{0,200}}\]\(\s*(?:https?:)?//[^)\s]+|<img\b[^>]{{0,200}}\bsrc\s*="),
    (SignKind.EXFILTRATION, r"https?://[^\s]{{0,200}}[?&][\w-]{{1,40}}=\s?[<{{\[]"),
    (SignKind.EXFILTRATION, r"\b{sending}{far}https?://\S+"),
)  # fmt: skip
