"""Files of words: what a file says is what is read."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
import yaml

import fin_agent

FILES = sorted(Path(fin_agent.__file__).parent.rglob("*.yaml"))


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_no_list_hides_another_of_its_name(path: Path) -> None:
    nodes = [yaml.compose(path.read_text(encoding="utf-8"))]
    while nodes:
        node = nodes.pop()
        if isinstance(node, yaml.MappingNode):
            names = Counter(key.value for key, _ in node.value if key.value != "<<")
            assert not {name for name, times in names.items() if times > 1}
            nodes += [value for _, value in node.value]
        elif isinstance(node, yaml.SequenceNode):
            nodes += node.value
