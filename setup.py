"""Which folders are installed, and under which names: found, so that a new folder cannot be left out of the wheel.

Everything else about the package is in pyproject.toml. There, setuptools can find packages too, but not put those that
it finds below another one: `graphs/`, `tools/` and `prompts/` stand at the top of the repository, where a newcomer
opens them first, and install inside `fin_agent`.
"""

from setuptools import find_namespace_packages, setup

PACKAGE = "fin_agent"
TOP_LEVEL_FOLDERS = ("graphs", "tools", "prompts")


def packages() -> dict[str, str]:
    """The folder of each package by the package's name."""
    found = {}
    for folder in (PACKAGE, *TOP_LEVEL_FOLDERS):
        name = folder if folder == PACKAGE else f"{PACKAGE}.{folder}"
        found[name] = folder
        for below in find_namespace_packages(folder, exclude=["*__pycache__"]):
            found[f"{name}.{below}"] = f"{folder}/{below.replace('.', '/')}"
    return found


# Every file of a package goes with it: words, prompts, SQL, `py.typed`.
setup(packages=list(packages()), package_dir=packages(), package_data={"": ["*"]})
