"""FinGEAR: lexicon-guided budgets over Items, and two trees with one topology in each (`fin-agent trees`).

`lexicon_map` finds the Items that contain the terms of a question and computes how many chunks each Item contributes.
`tree_building` builds and stores the Summary and Question Trees of a filing. `tree_search` traverses them; it
implements the strategy `fingear`.
"""
