"""What may go wrong with a download, in words: what happened, to what, and what to do next."""

from __future__ import annotations

import math
from collections.abc import Sequence

from fin_agent.errors import FinAgentError

CONTACT_VARIABLE = "FIN_AGENT_CONTACT"
_WHY = (
    "The SEC's fair access policy asks whoever fetches by program to say who they are, so that it can write before it"
    " blocks them"
)


class DownloadError(FinAgentError):
    """A filing could not be fetched."""

    ends_all = False
    """Whether the next filing would fare no better: EDGAR cannot be reached, refuses, or nothing can be written."""


class NotThereError(DownloadError):
    """EDGAR has nothing at an address."""


class _EndsAllError(DownloadError):
    ends_all = True


def contact_missing() -> DownloadError:
    """Nobody said who asks."""
    return DownloadError(
        "EDGAR is not asked without a contact",
        remedy=f'{_WHY}: give --contact "Jane Doe jane@example.com" (yours), set {CONTACT_VARIABLE}, or write'
        " `contact` under [edgar] in fin-agent.toml",
    )


def contact_unusable(given: str) -> DownloadError:
    """What is given as a contact has no e-mail address, or is no line of ASCII."""
    return DownloadError(
        f"{given[:80]!r} cannot be used as a contact",
        remedy=f"{_WHY}: give your name and e-mail address on one line of plain letters, as Jane Doe jane@example.com",
    )


def address_unusable(url: str) -> DownloadError:
    """A base URL is no http(s) address."""
    return DownloadError(
        "this is no address that EDGAR could be at",
        subject=_without_password(url)[:200],
        remedy="Give one as https://www.sec.gov, or leave `url` and `data_url` out of the settings",
    )


def proxy_unusable() -> DownloadError:
    """The environment names a proxy that is none, or one that is spoken to in a way that is not known here."""
    return DownloadError(
        "the proxy that the environment names cannot be used",
        subject="HTTPS_PROXY, HTTP_PROXY or ALL_PROXY",
        remedy="Set it to an address as http://proxy.example.org:3128, without a line end or other control character;"
        " a SOCKS proxy needs the package socksio",
    )


def unknown_company(given: str, near: Sequence[str]) -> DownloadError:
    """EDGAR lists no company under this ticker or CIK."""
    meant = f"Did you mean {' or '.join(near)}? " if near else ""
    return DownloadError(
        "EDGAR lists no company under this ticker or CIK",
        subject=given[:80],
        remedy=f"{meant}Give the ticker of its shares, or its CIK (https://www.sec.gov/search-filings)",
    )


def none_filed(company: str, wanted: str, there: str) -> DownloadError:
    """The company has no such filings."""
    return DownloadError(f"EDGAR has no {wanted}", subject=company, remedy=there)


def not_readable_form(name: str) -> DownloadError:
    """What was filed is not HTML or PDF."""
    return DownloadError(
        f"it was filed as {name}, which is not read",
        subject=name,
        remedy="Filings before about 2001 are plain text: print it to a PDF and ingest that",
    )


def unreachable(host: str, reason: str) -> DownloadError:
    """No connection, or none that lasts."""
    return _EndsAllError(
        f"EDGAR cannot be reached ({reason})",
        subject=host,
        remedy="Check the network, then run the same command again: it goes on from there. Filings that you have are"
        " brought in with `fin-agent ingest PATH...`",
    )


def refused(url: str, status: int, pause: float) -> DownloadError:
    """EDGAR goes on refusing."""
    if status in (403, 429):
        return _EndsAllError(
            f"EDGAR refuses requests (HTTP {status}), as it does for some ten minutes after too many",
            subject=url,
            remedy=f"Wait {max(10, round(pause / 60))} minutes, check that the contact is yours and that no other"
            " program asks EDGAR from this address, then run the same command again: it goes on from there",
        )
    if status == 404:
        return NotThereError(
            "EDGAR has nothing here (HTTP 404)",
            subject=url,
            remedy="The filing may have been withdrawn: look at the company's filings on https://www.sec.gov",
        )
    return DownloadError(
        f"EDGAR answers with an error (HTTP {status})", subject=url, remedy="Run the same command again later"
    )


def held_back(host: str, seconds: float) -> DownloadError:
    """A server asked for a pause, and it is not over."""
    minutes = math.ceil(seconds / 60)
    return _EndsAllError(
        f"it asked for a pause, of which {minutes:,} minutes are left: nothing was asked",
        subject=host,
        remedy=f"Run the same command again in {minutes:,} minutes: it goes on from there. Filings that you have are"
        " brought in with `fin-agent ingest PATH...`",
    )


def turned_away(url: str) -> DownloadError:
    """A page of EDGAR's that says that it refuses, sent as if it were what was asked for."""
    return _EndsAllError(
        "EDGAR sent a page that refuses requests in place of the document; nothing of it is kept",
        subject=url,
        remedy="Wait 10 minutes, check that the contact is yours and that no other program asks EDGAR from this"
        " address, then run the same command again: it goes on from there",
    )


def not_the_filing(url: str, form: str, why: str) -> DownloadError:
    """What came is something else than what is listed."""
    return DownloadError(
        f"what came is not the {form} that EDGAR lists: {why}; nothing of it is kept",
        subject=url,
        remedy="Look at the address in a browser: where a network or a proxy shows a page of its own, log in there and"
        " run the same command again; where it is the filing, save it and bring it in with `fin-agent ingest`",
    )


def led_away(url: str, target: str) -> DownloadError:
    """A redirect to a host that is not EDGAR's."""
    return DownloadError(
        f"it redirects to {_without_password(target)[:200]}, which is not EDGAR, and is not followed",
        subject=url,
        remedy="Check the network (a login page of a hotel or a proxy redirects so), then run the same command again",
    )


def too_large(url: str, most: int) -> DownloadError:
    """A file beyond the limit."""
    return DownloadError(
        f"it is larger than {most // 2**20} MB, which no filing is",
        subject=url,
        remedy="`fin-agent ingest` takes no larger file either. Look at it in a browser; if it is the filing, print the"
        " pages that you need to a PDF, and bring that in",
    )


def _without_password(url: str) -> str:
    scheme, separator, rest = url.partition("://")
    before, sign, place = rest.rpartition("@")
    return f"{scheme}://...@{place}" if separator and before and sign else url


def not_understood(url: str, why: str) -> DownloadError:
    """A list of EDGAR's has another form than expected."""
    return DownloadError(
        f"what EDGAR says here is not understood ({why})",
        subject=url,
        remedy="Run the same command again; if it stays so, please report it",
    )


def not_writable(where: str, reason: str) -> DownloadError:
    """The folder cannot be written to."""
    return _EndsAllError(
        f"it cannot be written ({reason})", subject=where, remedy="Name a folder with space that may be written to"
    )
