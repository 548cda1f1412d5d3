"""A folder of static vectors, which `fin-agent embed --model FOLDER` makes of a corpus in minutes on one core.

    pip install wordllama && python -m benchmarks.static_vectors FOLDER

The vectors are WordLlama's (256 dimensions, carried by its package): a text is the mean of its tokens' vectors, however
long it is. They stand in where an encoder takes hours: no accelerator, or a machine shared with other work.
"""

from __future__ import annotations

import argparse
from importlib.resources import files
from pathlib import Path


def main() -> None:
    """Write the folder."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    folder = parser.parse_args().folder
    from safetensors.numpy import load
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import StaticEmbedding
    from tokenizers import Tokenizer

    package = files("wordllama")
    (vectors,) = load((package / "weights" / "l2_supercat_256.safetensors").read_bytes()).values()
    written = (package / "tokenizers" / "l2_supercat_tokenizer_config.json").read_text(encoding="utf-8")
    tokenizer = Tokenizer.from_str(written)
    tokenizer.no_padding()
    tokenizer.no_truncation()
    module = StaticEmbedding(tokenizer, embedding_weights=vectors.astype("float32"))
    SentenceTransformer(modules=[module]).save(str(folder))


if __name__ == "__main__":
    main()
