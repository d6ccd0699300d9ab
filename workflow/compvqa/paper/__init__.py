"""The papers' tables and figures from our tables, the papers' own numbers beside ours, and the sample pages.

What is made is data: ``config/paper/<name>.yaml`` names the inputs, the module of
:mod:`compvqa.paper.tables` or :mod:`compvqa.paper.figures` that makes it, and the paper's numbers and words
to show in grey.
"""
