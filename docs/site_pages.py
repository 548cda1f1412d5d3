"""Hook of MkDocs: pages that stand outside docs/, a list of the decisions, and links as they have to be on the site.

GitHub shows the same Markdown from where it stands, so that its links are relative to the repository. On the site the
README is the start page; links to files that are not part of the site (sources, licences) become plain text.
"""

from __future__ import annotations

import posixpath
import re
from pathlib import Path
from typing import Any

from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File

ROOT = Path(__file__).parents[1]
OUTSIDE = {
    "README.md": "index.md",
    "CONTRIBUTING.md": "contributing.md",
    "CHANGELOG.md": "changelog.md",
    "SECURITY.md": "security.md",
    "examples/README.md": "examples.md",
}
"""File of the repository -> its page on the site."""
DECISIONS = "decisions/index.md"
_FENCED = re.compile(r"^( *)```.*?^\1```$", re.M | re.S)
_LINK = re.compile(r"(?P<image>!?)\[(?P<label>[^\]]*)\]\((?P<target>[^)\s#:]+)(?P<heading>#[^)\s]*)?\)")


def on_files(files: Any, *, config: Any) -> Any:
    """Add the pages that no file of docs/ holds."""
    for source, page in OUTSIDE.items():
        # Every term of the guides is in the changelog too: it comes after them in the search.
        head = "---\nsearch:\n  boost: 0.1\n---\n" if source == "CHANGELOG.md" else ""
        files.append(File.generated(config, page, content=head + (ROOT / source).read_text(encoding="utf-8")))
    files.append(File.generated(config, DECISIONS, content=_decisions()))
    return files


def on_page_markdown(markdown: str, *, page: Any, **_: Any) -> str:
    """Rewrite the links of a page, outside of its code blocks."""
    place = page.file.src_uri
    source = next((file for file, at in OUTSIDE.items() if at == place), f"docs/{place}")
    parts, last = [], 0
    for fenced in _FENCED.finditer(markdown):
        parts += [_relinked(markdown[last : fenced.start()], source, place), fenced[0]]
        last = fenced.end()
    return "".join([*parts, _relinked(markdown[last:], source, place)])


def _relinked(text: str, source: str, place: str) -> str:
    def replaced(found: re.Match[str]) -> str:
        named = posixpath.normpath(posixpath.join(posixpath.dirname(source), found["target"]))
        if named == f"docs/{DECISIONS}" or named.rstrip("/") == "docs/decisions":
            target = DECISIONS
        elif not (ROOT / named).exists():
            raise PluginError(f"{source}: nothing is at {found['target']}")
        elif named in OUTSIDE:
            target = OUTSIDE[named]
        elif named.startswith("docs/"):
            target = named.removeprefix("docs/")
        else:
            return found["label"]
        relative = posixpath.relpath(target, posixpath.dirname(place) or ".")
        return f"{found['image']}[{found['label']}]({relative}{found['heading'] or ''})"

    return _LINK.sub(replaced, text)


def _decisions() -> str:
    lines = ["# Decisions", "", "Choices between real alternatives: the context, the options, the choice.", ""]
    for file in sorted((ROOT / "docs" / "decisions").glob("[0-9]*.md")):
        title = file.read_text(encoding="utf-8").split("\n", 1)[0].lstrip("# ")
        number = int(file.name[:4])
        lines.append(f"- {number}: [{re.sub(r'^[0-9]+[.] ', '', title)}]({file.name})")
    return "\n".join(lines) + "\n"
