"""What `fin-agent prompts ...` does."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

from fin_agent.cli.exits import ExitCode
from fin_agent.cli.streams import show, show_json
from fin_agent.config import settings_from
from fin_agent.presentation.plain import plain
from fin_agent.presentation.prompts import CheckedPrompt, WrongLine, checked_view, prompts_view
from fin_agent.prompts.prompt import (
    TEXT,
    Problem,
    PromptError,
    load_prompt,
    prompt_of_role,
    prompt_roles,
    prompt_source,
    prompts,
    read_prompt,
)


def list_prompts(folder: Path | None, *, as_json: bool) -> ExitCode:
    """List all prompts; one that is wrong is listed without its version."""
    listed = [_checked(name, _own(folder)) for name in prompts()]
    if as_json:
        show_json({"prompts": [_line(each) for each in listed]})
    else:
        show(prompts_view(listed))
    return ExitCode.DONE


def show_prompt(name: str, folder: Path | None, *, as_json: bool) -> ExitCode:
    """Print a prompt's file as it stands, or what is read from it as JSON."""
    known = prompt_of_role(name) or name
    own = _own(folder)
    source = prompt_source(known, own)
    if not as_json:
        sys.stdout.write(plain(source.text if source.text.endswith("\n") else f"{source.text}\n"))
        return ExitCode.DONE
    prompt = load_prompt(known, folder=own)
    show_json(
        {
            **_line(_checked(known, own)),
            "placeholders": {each: holds.value for each, holds in prompt.role.placeholders.items()},
            "source": prompt.source,
            "system": prompt.system,
            "user": prompt.user,
        }
    )
    return ExitCode.DONE


def check_prompts(folder: Path | None, *, as_json: bool) -> ExitCode:
    """Check all prompts and whether every file of the folder is one. SOME_FAILED where anything is wrong."""
    own = _own(folder)
    checked = checked_prompts(own)
    if as_json:
        show_json(
            {
                "prompts": [
                    {
                        **_line(each),
                        "problems": [
                            {"line": wrong.line or None, "what": wrong.what, "remedy": wrong.remedy}
                            for wrong in each.wrong
                        ],
                    }
                    for each in checked
                ]
            }
        )
    else:
        show(checked_view(checked))
    return ExitCode.SOME_FAILED if any(each.wrong for each in checked) else ExitCode.DONE


def checked_prompts(folder: Path | None) -> list[CheckedPrompt]:
    """Every prompt, those of the folder in place of those that come along; then files of the folder that are none."""
    return [*(_checked(name, folder) for name in prompts()), *_of_no_prompt(folder)]


def _own(given: Path | None) -> Path | None:
    """The folder given, else the one that the environment names. Raises PromptError where it is none."""
    folder = given or settings_from().prompts
    if folder is not None and not folder.is_dir():
        raise PromptError("no such folder", subject=str(folder), remedy="Give the folder that holds your *.md files")
    return folder


def _checked(name: str, folder: Path | None) -> CheckedPrompt:
    role = prompt_roles()[name]
    try:
        source = prompt_source(name, folder)
    except PromptError as failure:
        wrong = (WrongLine(0, failure.what, failure.remedy),)
        return CheckedPrompt(name, role.name, role.does, role.output, failure.subject, own=True, wrong=wrong)
    read = read_prompt(name, source.text)
    problems = [*read.problems, *_of_reply(role.output)]
    return CheckedPrompt(
        name,
        role.name,
        role.does,
        role.output,
        source.subject,
        own=source.own,
        version=read.prompt.version if read.prompt else "",
        characters=len(read.prompt.system) + len(read.prompt.user) if read.prompt else 0,
        wrong=tuple(WrongLine(each.line, each.what, each.remedy) for each in problems),
    )


def _of_reply(output: str) -> Iterator[Problem]:
    from fin_agent.analyst.model.replies import REPLIES

    if output != TEXT and output not in REPLIES:
        yield Problem(0, f"there is no output type `{output}`", "Reinstall fin-agent: a part of it is missing")


def _of_no_prompt(folder: Path | None) -> Iterator[CheckedPrompt]:
    for file in sorted(folder.glob("*.md")) if folder is not None else ():
        if file.stem not in prompt_roles():
            remedy = f"Rename or remove it; there are: {', '.join(prompts())}"
            yield CheckedPrompt(
                file.stem, "", "", "", str(file), own=True, wrong=(WrongLine(0, "no prompt has this name", remedy),)
            )


def _line(each: CheckedPrompt) -> dict[str, object]:
    return {
        "name": each.name,
        "role": each.role or None,
        "does": each.does or None,
        "version": each.version or None,
        "output": each.output or None,
        "tokens": each.tokens if each.version else None,
        "file": each.file,
        "own": each.own,
    }
