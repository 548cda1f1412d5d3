"""Models small enough to be made on the spot: a BERT of two layers, random weights, a vocabulary of a few words."""

from __future__ import annotations

from pathlib import Path

WORDS = ("revenue", "debt", "assets", "litigation", "grew", "fell", "company", "of", "the", "and")


def save_sparse(folder: Path) -> Path:
    """A SPLADE-style model in `folder`."""
    from sentence_transformers import SparseEncoder
    from sentence_transformers.sparse_encoder.modules import SpladePooling, Transformer
    from transformers import BertForMaskedLM

    place = _save(BertForMaskedLM, folder / "bert")
    words = Transformer(str(place), transformer_task="fill-mask")
    SparseEncoder(modules=[words, SpladePooling()]).save_pretrained(str(folder / "sparse"))
    return folder / "sparse"


def save_cross(folder: Path, labels: int = 1) -> Path:
    """A cross-encoder in `folder`."""
    from transformers import BertForSequenceClassification

    return _save(BertForSequenceClassification, folder / "cross", num_labels=labels)


def save_static(folder: Path) -> Path:
    """A vector a word, whatever stands beside it, in `folder`: such a model reads texts of any length."""
    import numpy as np
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import StaticEmbedding
    from tokenizers import Tokenizer
    from tokenizers.models import WordLevel
    from tokenizers.pre_tokenizers import Whitespace

    tokenizer = Tokenizer(WordLevel({word: number for number, word in enumerate(("[UNK]", *WORDS))}, "[UNK]"))
    tokenizer.pre_tokenizer = Whitespace()
    vectors = np.eye(len(WORDS) + 1, dtype=np.float32)
    SentenceTransformer(modules=[StaticEmbedding(tokenizer, embedding_weights=vectors)]).save(str(folder / "static"))
    return folder / "static"


def _save(kind: type, place: Path, **settings: int) -> Path:
    import torch
    from transformers import BertConfig, BertTokenizerFast

    place.mkdir(parents=True)
    vocabulary = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *WORDS]
    (place / "vocab.txt").write_text("\n".join(vocabulary), encoding="utf-8")
    BertTokenizerFast(vocab=str(place / "vocab.txt"), model_max_length=16).save_pretrained(str(place))
    torch.manual_seed(7)
    shape = BertConfig(
        vocab_size=len(vocabulary),
        hidden_size=16,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=32,
        max_position_embeddings=16,
        **settings,
    )
    kind(shape).eval().save_pretrained(str(place))
    return place
