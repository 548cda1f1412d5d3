"""TAT-QA: tables with paragraphs, questions over them (Zhu et al. 2021)."""
