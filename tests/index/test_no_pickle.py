"""Nothing that is read from a disk can run code: no pickle in the package, and none while an index is opened."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
FORBIDDEN = {"pickle", "cPickle", "_pickle", "dill", "cloudpickle", "joblib", "shelve", "marshal"}
LOADED = """
import json, pickle, sys
from pathlib import Path
def never(*arguments, **named):
    raise AssertionError("something was unpickled")
pickle.load = pickle.loads = pickle.Unpickler = never
sys.addaudithook(lambda event, arguments: never() if event == "pickle.find_class" else None)
from fin_agent import Workspace
workspace = Workspace.open(Path(sys.argv[1]))
found = workspace.index.search_pages(["revenue"])
print(json.dumps([len(workspace.index.filings()), len(found), len(workspace.directory.companies)]))
"""


def test_no_module_imports_it() -> None:
    modules = [path for folder in ("fin_agent", "graphs", "tools", "prompts") for path in (ROOT / folder).rglob("*.py")]
    assert len(modules) > 250
    for path in modules:
        source = path.read_text(encoding="utf-8")
        if not any(word in source for word in (*FORBIDDEN, ".load(")):
            continue
        for node in ast.walk(ast.parse(source)):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            assert not {name.split(".")[0] for name in names} & FORBIDDEN, path
            if isinstance(node, ast.Call) and ast.unparse(node.func) in ("np.load", "numpy.load", "torch.load"):
                assert {"allow_pickle", "weights_only"} & {keyword.arg for keyword in node.keywords}, path


def test_opening_and_searching_an_index_unpickles_nothing(sample_index: Path) -> None:
    done = subprocess.run([sys.executable, "-c", LOADED, sample_index], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    filings, pages, companies = json.loads(done.stdout)
    assert (filings, companies) == (15, 3) and pages > 0
