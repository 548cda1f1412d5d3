"""From figures to an answer: a program is written, checked, run, and its result told with its sources.

`program` writes it, `program_syntax` says what it may be written with, `provenance` accounts for every number in it
(read by `program_numbers`), `sandbox` runs it, `composition` makes the answer of its result. `answer` is the
shape of what comes out.
"""
