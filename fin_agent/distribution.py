"""The distribution that installs this package: `langgraph-fin-agent`, since `fin-agent` on PyPI is another project."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, distributions, requires, version

DISTRIBUTION = "langgraph-fin-agent"
OTHER_DISTRIBUTION = "fin-agent"
"""Another project on PyPI. Its modules install under `fin_agent` too, so that of two wheels the later one wins."""


def installed_version() -> str:
    """Return the version, such as `0.1.0`, or `0+unknown` if the sources run without being installed."""
    try:
        return version(DISTRIBUTION)
    except PackageNotFoundError:
        return "0+unknown"


def requirements() -> list[str]:
    """Return the requirements of this package and its extras (PEP 508); empty if the sources are not installed."""
    try:
        return requires(DISTRIBUTION) or []
    except PackageNotFoundError:
        return []


def refuse_other_distribution() -> None:
    """Check that no other distribution has its files in the package `fin_agent`.

    Raises:
        ImportError: `fin-agent` is installed beside this distribution. The message says how to repair the environment.
    """
    for other in distributions(name=OTHER_DISTRIBUTION):
        # Only an installed wheel has a RECORD with modules: build folders and editable installs overwrite nothing.
        record = other.read_text("RECORD") or ""
        if any(line.startswith("fin_agent/") for line in record.splitlines()):
            raise ImportError(
                f"The distributions {OTHER_DISTRIBUTION} {other.version} and {DISTRIBUTION} are both installed, and "
                "each overwrites files of the other in the package fin_agent. Use one environment for each. To keep "
                f"{DISTRIBUTION} in this one, run `pip uninstall {OTHER_DISTRIBUTION}`, then install "
                f"{DISTRIBUTION} again with `--force-reinstall --no-deps`."
            )
