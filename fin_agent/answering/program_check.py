"""Hold a program against the plan it is to carry out, as the program that rules write of that plan states it."""

from __future__ import annotations

from collections.abc import Sequence

from fin_agent.answering.expected import constants_of
from fin_agent.answering.program import Program
from fin_agent.answering.provenance import Provenance, check_provenance
from fin_agent.vocabulary.fact import Fact


def check_program(code: str, written: Program, question: str, facts: Sequence[Fact] = ()) -> Provenance:
    """Account for every number of `code`, which has the variables, the scale and the constants of `written`.

    `facts` are further figures of the evidence, which no variable stands for.
    """
    expected = {name: figure.fact() for name, figure in written.variables.items()}
    return check_provenance(
        code,
        [*expected.values(), *facts],
        question,
        expected,
        scale=written.scale,
        constants=constants_of(written.code, expected),
    )
