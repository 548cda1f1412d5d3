"""FinGEAR: lexicon-guided budgets over Items, and two trees with one topology in each (`fin-agent trees`).

`tree_building` builds and stores the Summary and Question Trees of a filing, finds the Items that contain the terms of
a question and computes how many chunks each Item contributes. `tree_search` traverses the trees; it implements the
strategy `fingear`.
"""
