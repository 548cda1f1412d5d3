"""From figures to an answer: write a program, check it, run it, and state its result with sources.

`program` writes it, `program_syntax` defines the allowed syntax, `provenance` reads and accounts for every number in
it, `sandbox` runs it, `answer_composition` turns its result into an answer. `answer` defines the answer's type.
"""
