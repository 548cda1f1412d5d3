"""Training tasks as published: a page scorer, a reranker of tables, embeddings that can be truncated."""

from __future__ import annotations

import random
import tempfile
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np
import torch
from datasets import Dataset, disable_progress_bars
from numpy.typing import NDArray
from sentence_transformers import (
    CrossEncoder,
    SentenceTransformer,
    SentenceTransformerTrainer,
    SentenceTransformerTrainingArguments,
    losses,
    util,
)
from sentence_transformers.cross_encoder import CrossEncoderTrainer, CrossEncoderTrainingArguments
from sentence_transformers.cross_encoder.losses import BinaryCrossEntropyLoss
from tokenizers import Tokenizer
from transformers import PrinterCallback

from fin_agent.errors import QuestionError
from fin_agent.evaluation.answer_scoring import page_recall
from fin_agent.evaluation.passage_ranking import ndcg
from fin_agent.index.protocol import PageKey
from fin_agent.retrieval.dense.loading import model_location
from fin_agent.training.cross_validation import Figures, Learnt, Recipe, Task, fixed_seed
from fin_agent.training.supervision import FilingText, Material, QuestionWithPages
from fin_agent.vocabulary.runs import grouped

disable_progress_bars()
FIRST = 5
"""The cutoff of recall, in pages or tables."""
_RANKED = 10
_AT_ONCE = 256
_LOGGED = 20
"""Losses recorded per training, at most."""


class Pages(Task):
    """A bi-encoder of questions and whole pages (Kobeissi & Langlais 2026, Section 3.3).

    The loss is multiple negatives ranking over (question, page): the other pages of a batch are negatives.
    """

    name = "pages"
    published = Recipe(rate=2e-5, batch=16, epochs=15, held_out="filing")
    small = Recipe(rate=1e-4, batch=64, epochs=5, negatives=2)

    def __init__(self, *, corpus: bool) -> None:
        """Set what is measured; `corpus` adds a search over all pages of the material."""
        self._corpus = corpus

    def base(self, recipe: Recipe) -> SentenceTransformer:
        """See Task.base."""
        return _encoder(recipe)

    def learn(self, material: Material, asked: Sequence[QuestionWithPages], recipe: Recipe) -> Learnt:
        """See Task.learn."""
        examples = list(_with_wrong_pages(material, asked, recipe))
        return _tuned(_encoder(recipe), examples, recipe, losses.MultipleNegativesRankingLoss)

    def measure(
        self, model: SentenceTransformer, material: Material, asked: Sequence[QuestionWithPages]
    ) -> list[Figures]:
        """Return page recall at 5 for each question, within the right filings and, with `corpus`, over all pages."""
        filings = material.by_id
        wanted = filings if self._corpus else {place.doc_id for each in asked for place in each.pages}
        places = [
            PageKey(name, number) for name in filings if name in wanted for number in range(len(filings[name].pages))
        ]
        pages = vectors_of(model, [filings[place.doc_id].pages[place.page] for place in places], queries=False)
        questions = vectors_of(model, [each.question for each in asked], queries=True)
        of_filing = grouped((place.doc_id, at) for at, place in enumerate(places))
        figures: list[Figures] = []
        for each, likeness in zip(asked, questions @ pages.T, strict=True):
            within = [at for name in dict.fromkeys(place.doc_id for place in each.pages) for at in of_filing[name]]
            searched = {"right filing": within, **({"all filings": None} if self._corpus else {})}
            found = {name: [places[at] for at in _best(likeness, among)] for name, among in searched.items()}
            recalls = {name: page_recall(ranked, each.pages, FIRST, also=each.also) for name, ranked in found.items()}
            figures.append({f"page recall@5, {name}": recall for name, recall in recalls.items()})
        return figures


class Reranker(Task):
    """A cross-encoder of questions and tables (HiREC, Section 4.1.2): binary cross-entropy, eight wrong tables each."""

    name = "reranker"
    published = Recipe(rate=2e-7, batch=128, epochs=3, negatives=8)
    small = Recipe(rate=1e-4, batch=128, epochs=3, negatives=8)

    def base(self, recipe: Recipe) -> CrossEncoder:
        """See Task.base. If the base is not a cross-encoder, its head is new and its scores are random."""
        fixed_seed(recipe.seed)
        single = {"dtype": torch.float32}
        return CrossEncoder(model_location(recipe.base), num_labels=1, max_length=recipe.length, model_kwargs=single)

    def learn(self, material: Material, asked: Sequence[QuestionWithPages], recipe: Recipe) -> Learnt:
        """See Task.learn."""
        model = self.base(recipe)
        rows = list(_table_pairs(material, asked, recipe))
        if not rows:
            raise QuestionError("no gold page contains a table to learn from", remedy="Give other questions")
        loss = BinaryCrossEntropyLoss(model)
        return _trained(CrossEncoderTrainer, CrossEncoderTrainingArguments, model, rows, recipe, loss)

    def measure(self, model: CrossEncoder, material: Material, asked: Sequence[QuestionWithPages]) -> list[Figures]:
        """Return recall at 5 of gold pages, by the scores of their tables among all tables of the right filing."""
        filings = material.by_id
        figures: list[Figures] = []
        for each in asked:
            filing = filings[each.pages[0].doc_id]
            found: dict[str, float] = {}
            if reachable := list(_gold_tables(each, filing)):
                pairs = [(each.question, text) for _, text in filing.tables]
                scores = np.asarray(model.predict(pairs, batch_size=_AT_ONCE, show_progress_bar=False))
                ranked = [PageKey(filing.doc_id, filing.tables[at][0]) for at in _best(scores)]
                found["table recall@5"] = page_recall(ranked, reachable, FIRST, also=each.also)
            figures.append(found)
        return figures


class Embeddings(Task):
    """An encoder whose vectors can be truncated (FinGEAR, Table 5): Matryoshka loss over multiple negatives ranking."""

    name = "embeddings"
    published = Recipe(rate=2e-5, batch=32, epochs=50)
    small = Recipe(rate=1e-4, batch=64, epochs=5)
    dimensions = (384, 256, 128, 64)
    """Lengths that vectors are cut to; a base with shorter vectors starts at its own length."""

    def base(self, recipe: Recipe) -> SentenceTransformer:
        """See Task.base."""
        return _encoder(recipe)

    def learn(self, material: Material, asked: Sequence[QuestionWithPages], recipe: Recipe) -> Learnt:
        """See Task.learn. It uses the terms of the companies that the questions are about."""
        companies = {material.company_of(each) for each in asked}
        pairs = [(each.term, each.sentence) for each in material.terms if each.present and each.company in companies]
        filings = material.by_id
        of_pages = ((each.question, filings[place.doc_id].pages[place.page]) for each in asked for place in each.pages)
        pairs = [*pairs[: recipe.most], *(pair for pair in of_pages if pair[1])]

        def matryoshka(model: SentenceTransformer) -> torch.nn.Module:
            return losses.MatryoshkaLoss(model, losses.MultipleNegativesRankingLoss(model), self._sizes(model))

        return _tuned(_encoder(recipe), pairs, recipe, matryoshka)

    def measure(
        self, model: SentenceTransformer, material: Material, asked: Sequence[QuestionWithPages]
    ) -> list[Figures]:
        """Return NDCG at 10 of the pages of the right filing, by dimension; `of_fold` measures terms."""
        filings = material.by_id
        names = sorted({each.pages[0].doc_id for each in asked})
        vectors = {name: vectors_of(model, filings[name].pages, queries=False) for name in names}
        questions = vectors_of(model, [each.question for each in asked], queries=True)
        figures: list[Figures] = []
        for each, question in zip(asked, questions, strict=True):
            found: dict[str, float] = {}
            for size in self._sizes(model):
                pages, cut = vectors[each.pages[0].doc_id][:, :size], question[:size]
                likeness = pages @ cut / np.maximum(np.linalg.norm(pages, axis=1), 1e-9)
                ranked = [PageKey(each.pages[0].doc_id, at) for at in _best(likeness, first=_RANKED)]
                found[f"nDCG@10, {size}"] = ndcg(ranked, {*each.pages, *each.also}, _RANKED)
            figures.append(found)
        return figures

    def of_fold(self, model: SentenceTransformer, material: Material, asked: Sequence[QuestionWithPages]) -> Figures:
        """Return Spearman's correlation, by dimension, of similarity with whether a sentence prints a label."""
        from scipy.stats import spearmanr

        companies = {material.company_of(each) for each in asked}
        held_out = [each for each in material.terms if each.company in companies]
        if len({each.present for each in held_out}) < 2:
            return {}
        terms = vectors_of(model, [each.term for each in held_out], queries=True)
        sentences = vectors_of(model, [each.sentence for each in held_out], queries=False)
        found = {}
        for size in self._sizes(model):
            ours, theirs = terms[:, :size], sentences[:, :size]
            lengths = np.linalg.norm(ours, axis=1) * np.linalg.norm(theirs, axis=1)
            likeness = (ours * theirs).sum(axis=1) / np.maximum(lengths, 1e-9)
            found[f"Spearman, {size}"] = float(spearmanr(likeness, [each.present for each in held_out]).statistic)
        return found

    def _sizes(self, model: SentenceTransformer) -> list[int]:
        longest = model.get_embedding_dimension() or max(self.dimensions)
        return sorted({min(size, longest) for size in self.dimensions}, reverse=True)


def _encoder(recipe: Recipe) -> SentenceTransformer:
    fixed_seed(recipe.seed)
    model = SentenceTransformer(model_location(recipe.base), model_kwargs={"dtype": torch.float32})
    if isinstance(model.tokenizer, Tokenizer):  # static embeddings have no max_seq_length
        model.tokenizer.enable_truncation(recipe.length)
    else:
        model.max_seq_length = recipe.length
    return model


def _tuned(
    model: SentenceTransformer,
    examples: Sequence[tuple[str, ...]],
    recipe: Recipe,
    loss: Callable[[SentenceTransformer], torch.nn.Module],
) -> Learnt:
    """Train on `examples`: (text, positive, negative, ...), all of one length."""
    if len(examples) < 2:
        raise QuestionError("fewer than two pairs to learn from", remedy="Give more questions")
    arguments = partial(SentenceTransformerTrainingArguments, batch_sampler="no_duplicates")
    return _trained(SentenceTransformerTrainer, arguments, model, examples, recipe, loss(model))


def _trained(
    trainer_of: Callable[..., Any],
    arguments_of: Callable[..., Any],
    model: Any,
    examples: Sequence[tuple[Any, ...]],
    recipe: Recipe,
    loss: torch.nn.Module,
) -> Learnt:
    names = ("question", "table", "label") if isinstance(model, CrossEncoder) else map(str, range(len(examples[0])))
    data = Dataset.from_dict(dict(zip(names, map(list, zip(*examples, strict=True)), strict=True)))
    steps = max(1, len(examples) // recipe.batch) * recipe.epochs
    with tempfile.TemporaryDirectory() as folder:
        arguments = arguments_of(
            output_dir=folder,
            num_train_epochs=recipe.epochs,
            per_device_train_batch_size=recipe.batch,
            learning_rate=recipe.rate,
            warmup_steps=steps // 10,
            seed=recipe.seed,
            data_seed=recipe.seed,
            bf16=torch.cuda.is_available(),
            save_strategy="no",
            logging_steps=max(1, steps // _LOGGED),
            report_to="none",
            disable_tqdm=True,
        )
        trainer = trainer_of(model=model, args=arguments, train_dataset=data, loss=loss)
        trainer.remove_callback(PrinterCallback)  # keep standard output clean
        trainer.train()
    told = ((each["step"], each["loss"]) for each in trainer.state.log_history if "loss" in each)
    return Learnt(model.eval(), tuple(told))


def _with_wrong_pages(
    material: Material, asked: Sequence[QuestionWithPages], recipe: Recipe
) -> Iterator[tuple[str, ...]]:
    """Yield (question, page, other pages of the filing with tables, ...); skip filings with too few of these."""
    chance, filings = random.Random(recipe.seed), material.by_id
    for each in asked:
        for place in each.pages:
            filing = filings[place.doc_id]
            right = {*each.pages, *each.also}
            numbers = sorted({page for page, _ in filing.tables if PageKey(filing.doc_id, page) not in right})
            if filing.pages[place.page] and len(numbers) >= recipe.negatives:
                wrong = (filing.pages[number] for number in chance.sample(numbers, recipe.negatives))
                yield each.question, filing.pages[place.page], *wrong


def _table_pairs(
    material: Material, asked: Sequence[QuestionWithPages], recipe: Recipe
) -> Iterator[tuple[str, str, float]]:
    """Yield (question, table, 1 or 0): the tables of the gold page, each followed by other tables of the filing."""
    chance, filings = random.Random(recipe.seed), material.by_id
    for each in asked:
        filing = filings[each.pages[0].doc_id]
        gold = _gold_tables(each, filing)
        also = {place.page for place in each.also}
        wrong = [text for page, text in filing.tables if PageKey(filing.doc_id, page) not in gold and page not in also]
        for text in (text for of_page in gold.values() for text in of_page):
            yield each.question, text, 1.0
            for other in chance.sample(wrong, min(recipe.negatives, len(wrong))):
                yield each.question, other, 0.0


def _gold_tables(asked: QuestionWithPages, filing: FilingText) -> dict[PageKey, list[str]]:
    placed = ((PageKey(filing.doc_id, page), text) for page, text in filing.tables)
    return grouped((place, text) for place, text in placed if place in asked.pages)


def vectors_of(model: SentenceTransformer, texts: Sequence[str], *, queries: bool) -> NDArray[np.float32]:
    """Return unit vectors of texts, shape (texts, dimensions)."""
    encode = model.encode_query if queries else model.encode_document
    with torch.autocast(model.device.type, torch.bfloat16, enabled=model.device.type == "cuda"):
        found = encode(list(texts), batch_size=_AT_ONCE, show_progress_bar=False, convert_to_tensor=True)
    return util.normalize_embeddings(found.float()).cpu().numpy()


def _best(scores: NDArray[np.float32], among: Sequence[int] | None = None, first: int = FIRST) -> list[int]:
    """Return the positions of the highest scores, best first; ties are broken by position."""
    places = np.arange(len(scores)) if among is None else np.asarray(among)
    return [int(at) for at in places[np.argsort(-scores[places], kind="stable")[:first]]]
