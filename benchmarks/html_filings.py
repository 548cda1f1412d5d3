"""Time the reading of HTML filings (`.htm`, `.html`, also gzipped) against bare parsing of the same files.

    python benchmarks/html_filings.py FOLDER

One process. Prints for each file the megabytes of HTML (unpacked) a second of everything that ingest does with it
(reading, identity, tables, facts, tags, cards, and the write to an index); and how many times bare parsing that is.
"""

from __future__ import annotations

import argparse
import gzip
import tempfile
import time
from pathlib import Path

from lxml import etree

from fin_agent import SqliteIndex, prepare
from fin_agent.filings.reader import is_readable
from fin_agent.lexicon.lexicon import load_lexicon


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    folder = parser.parse_args().folder
    files = sorted(path for path in folder.rglob("*") if is_readable(path) and path.suffix.lower() != ".pdf")
    load_lexicon()
    bare = whole = megabytes = 0.0
    with tempfile.TemporaryDirectory() as made, SqliteIndex.create(Path(made)) as index:
        prepare(files[0])  # what is loaded and compiled once is not the files' cost
        for file in files:
            content = gzip.decompress(file.read_bytes()) if file.suffix == ".gz" else file.read_bytes()
            size = len(content) / 1e6
            started = time.process_time()
            "".join(etree.fromstring(content, etree.XMLParser(huge_tree=True, recover=True)).itertext())
            parsed = time.process_time()
            prepared = prepare(file)
            index.add(prepared.filing, prepared.cards, prepared.summary)
            done = time.process_time()
            print(f"{file.name:40} {size:5.1f} MB   {size / (done - parsed):5.1f} MB/s")
            bare, whole, megabytes = bare + parsed - started, whole + done - parsed, megabytes + size
    print(f"{'all':40} {megabytes:5.1f} MB   {megabytes / whole:5.1f} MB/s, {whole / bare:.0f} times bare parsing")


if __name__ == "__main__":
    main()
