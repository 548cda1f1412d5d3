"""Tags a filing in the making with inline XBRL, and keeps what each tag states."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal
from html import escape
from typing import TypeAlias

Members: TypeAlias = tuple[tuple[str, str], ...]
"""(axis, member) pairs, sorted by axis."""


@dataclass(frozen=True, slots=True)
class Dialect:
    """How one filing agent's software writes tags: names of transformations, ids, namespaces."""

    number: str
    zero: str
    true: str
    false: str
    day: str
    month_day: str
    state: str
    exchange: str
    units: Mapping[str, str]
    """Id in the file by unit: `USD`, `shares`, `USD/shares`, `pure`."""
    namespaces: Mapping[str, str]
    descriptive_ids: bool
    """Context ids that tell their dates, such as `I250802`, in place of `c-1`."""


@dataclass(frozen=True, slots=True)
class Period:
    """The time a tag covers: an instant where there is no start."""

    start: date | None
    end: date


@dataclass(frozen=True, slots=True)
class Stated:
    """What one tag states; the value in base units, signed, or the text; None where nil."""

    concept: str
    value: str | None
    period: Period
    members: Members
    unit: str
    decimals: int | None
    hidden: bool
    numeric: bool


@dataclass
class Tagger:
    """Writes tags and remembers them, with the contexts and units that they need."""

    dialect: Dialect
    cik: str
    prefix: str
    """Of the company's own concepts and members."""
    cover_period: Period
    stated: list[Stated] = field(default_factory=list)
    _contexts: dict[tuple[Period, Members], str] = field(default_factory=dict)
    _hidden: list[str] = field(default_factory=list)
    _ids: int = 0

    def number(
        self,
        concept: str,
        printed: Decimal,
        period: Period,
        *,
        members: Members = (),
        unit: str = "USD",
        exponent: int = 0,
        places: int = 0,
        opposite: bool = False,
        words: str = "",
    ) -> str:
        """A number without its sign, which is printed around it; `opposite` where the concept means the negative.

        `words` are printed in place of digits (`three`, `zero`).
        """
        value = -printed if opposite else printed
        text = words or (f"{abs(printed):,.{places}f}" if printed else "—")
        naming = self.dialect.number if printed else self.dialect.zero
        naming = "ixt-sec:numwordsen" if words else naming
        sign = ' sign="-"' if value < 0 else ""
        decimals = places - exponent
        base = value.scaleb(exponent)
        self._state(concept, format(base, "f") if base else "0", period, members, unit, decimals, hidden=False)
        return (
            f'<ix:nonFraction unitRef="{self.dialect.units[unit]}" contextRef="{self._context(period, members)}" '
            f'decimals="{decimals}"{sign} name="{concept}" format="{naming}" scale="{exponent}" '
            f'id="{self._next_id()}">{text}</ix:nonFraction>'
        )

    def nil(self, concept: str, period: Period, printed: str) -> str:
        """An amount that is reported as absent."""
        self._state(concept, None, period, (), "USD", None, hidden=False)
        return (
            f'<ix:nonFraction unitRef="{self.dialect.units["USD"]}" contextRef="{self._context(period, ())}" '
            f'name="{concept}" xsi:nil="true" id="{self._next_id()}">{printed}</ix:nonFraction>'
        )

    def text(self, concept: str, inner: str, value: str, form: str = "", period: Period | None = None) -> str:
        """Text of the cover, `inner` as markup; `value` is what it states after its transformation."""
        period = period or self.cover_period
        self._state(concept, value, period, (), "", None, hidden=False, numeric=False)
        naming = f' format="{form}"' if form else ""
        return (
            f'<ix:nonNumeric contextRef="{self._context(period, ())}" name="{concept}"{naming} '
            f'id="{self._next_id()}">{inner}</ix:nonNumeric>'
        )

    def hide_text(self, concept: str, printed: str, value: str, form: str = "") -> None:
        """A text that the filing does not show."""
        naming = f' format="{form}"' if form else ""
        self._state(concept, value, self.cover_period, (), "", None, hidden=True, numeric=False)
        context = self._context(self.cover_period, ())
        self._hidden.append(
            f'<ix:nonNumeric contextRef="{context}" name="{concept}"{naming} id="{self._next_id()}">'
            f"{printed}</ix:nonNumeric>"
        )

    def hide_number(self, concept: str, value: Decimal, period: Period, decimals: int, unit: str = "USD") -> None:
        """An amount in base units that the filing does not show here."""
        self._state(concept, format(value, "f"), period, (), unit, decimals, hidden=True)
        sign = ' sign="-"' if value < 0 else ""
        self._hidden.append(
            f'<ix:nonFraction unitRef="{self.dialect.units[unit]}" contextRef="{self._context(period, ())}" '
            f'decimals="{decimals}"{sign} name="{concept}" format="{self.dialect.number}" scale="0" '
            f'id="{self._next_id()}">{abs(value):,}</ix:nonFraction>'
        )

    def block(self, concept: str) -> tuple[str, str]:
        """Id and opening markup (up to `continuedAt`) of a text block that runs over whole paragraphs."""
        self._state(concept, "", self.cover_period, (), "", None, hidden=False, numeric=False)
        name = self._next_id()
        return name, (
            f'<ix:nonNumeric contextRef="{self._context(self.cover_period, ())}" name="{concept}" id="{name}" '
            f'escape="true"'
        )

    def header(self, schema: str) -> str:
        """The `ix:header` with all that has been used; call it last."""
        units = "".join(_unit(name, unit) for unit, name in self.dialect.units.items())
        contexts = "".join(_context(name, self.cik, *key) for key, name in self._contexts.items())
        return (
            f'<div style="display:none"><ix:header><ix:hidden>{"".join(self._hidden)}</ix:hidden>'
            f'<ix:references xml:lang="en-US"><link:schemaRef xlink:type="simple" xlink:href="{schema}"/>'
            f"</ix:references><ix:resources>{contexts}{units}</ix:resources></ix:header></div>"
        )

    def namespaces(self) -> str:
        """Declarations for the root element."""
        return " ".join(f'xmlns{":" if name else ""}{name}="{uri}"' for name, uri in self.dialect.namespaces.items())

    def _state(
        self,
        concept: str,
        value: str | None,
        period: Period,
        members: Members,
        unit: str,
        decimals: int | None,
        *,
        hidden: bool,
        numeric: bool = True,
    ) -> None:
        self.stated.append(Stated(concept, value, period, members, unit, decimals, hidden, numeric))

    def _context(self, period: Period, members: Sequence[tuple[str, str]]) -> str:
        key = (period, tuple(members))
        if key not in self._contexts:
            self._contexts[key] = self._context_name(period, members)
        return self._contexts[key]

    def _context_name(self, period: Period, members: Sequence[tuple[str, str]]) -> str:
        if not self.dialect.descriptive_ids:
            return f"c-{len(self._contexts) + 1}"
        at = f"D{period.start:%y%m%d}_{period.end:%y%m%d}" if period.start else f"I{period.end:%y%m%d}"
        return "_".join([at, *(member.partition(":")[2].removesuffix("Member") for _, member in members)])

    def _next_id(self) -> str:
        self._ids += 1
        return f"F_{self._ids:05d}" if self.dialect.descriptive_ids else f"f-{self._ids}"


def _unit(name: str, unit: str) -> str:
    measures = {"USD": "iso4217:USD", "shares": "xbrli:shares", "pure": "xbrli:pure"}
    above, _, below = unit.partition("/")
    measure = f"<xbrli:measure>{measures[above]}</xbrli:measure>"
    if below:
        measure = (
            f"<xbrli:divide><xbrli:unitNumerator>{measure}</xbrli:unitNumerator><xbrli:unitDenominator>"
            f"<xbrli:measure>{measures[below]}</xbrli:measure></xbrli:unitDenominator></xbrli:divide>"
        )
    return f'<xbrli:unit id="{name}">{measure}</xbrli:unit>'


def _context(name: str, cik: str, period: Period, members: Members) -> str:
    segment = "".join(
        f'<xbrldi:explicitMember dimension="{axis}">{escape(member)}</xbrldi:explicitMember>'
        for axis, member in members
    )
    segment = f"<xbrli:segment>{segment}</xbrli:segment>" if segment else ""
    if period.start:
        time = f"<xbrli:startDate>{period.start}</xbrli:startDate><xbrli:endDate>{period.end}</xbrli:endDate>"
    else:
        time = f"<xbrli:instant>{period.end}</xbrli:instant>"
    return (
        f'<xbrli:context id="{name}"><xbrli:entity><xbrli:identifier scheme="http://www.sec.gov/CIK">{cik}'
        f"</xbrli:identifier>{segment}</xbrli:entity><xbrli:period>{time}</xbrli:period></xbrli:context>"
    )
