"""FinGEAR: lexicon-guided budgets over Items, and two trees of one topology within each (`fin-agent trees`).

`lexicon_map` says in which Items the terms of a question stand and how many chunks each Item is to give,
`tree_building` builds and keeps a filing's Summary and Question Trees, `tree_search` walks them: the strategy
`fingear`.
"""
