"""From figures to an answer: a program is written, checked, run, and its result told with its sources.

`program` writes it, `program_syntax` says what it may be written with, `provenance` accounts for every number in it
(read by `program_numbers`), `sandbox` runs it, `composition` makes the answer of its result. `model_programs` does the
same for programs of a chat model, which have no plan to be held against. `answer` is the shape of what comes out.
"""
