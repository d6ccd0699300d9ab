"""The choice of the surest questions before balancing: the free choice that appendix C leaves."""

from __future__ import annotations

import duckdb

UNITS = 10_000  # risks are counted in whole numbers of these parts, so that sums are exact


def cut(db: duckdb.DuckDBPyConnection, target: float, least_share: float) -> dict[tuple[int, int], int]:
    """Drop the riskiest rows of the table ``parted``, by its column ``risk`` (in whole ``UNITS``; null: none known).

    Of each template in each part, all answers keep the same share of their questions, the surest: the largest share at
    which the mean risk of what is kept is at most ``target``, but ``least_share`` at least. Gives how
    many questions of each part and template, by their codes, there were before.
    """
    db.execute(
        """create table shares as
        select part, template, row, risk, (place - 1) / n as share from (
            select part, template, row, coalesce(risk, 0) as risk,
                row_number() over (partition by part, template, answer order by risk nulls first, rank, row) as place,
                count(*) over (partition by part, template, answer) as n
            from parted)"""
    )
    db.execute(
        """create table cut_off as
        select part, template, coalesce(max(share) filter (so_far <= $target * n), -1) as sure from (
            select part, template, share, sum(risk) over upto as so_far, count(*) over upto as n
            from shares window upto as (partition by part, template order by share)
        ) group by part, template""",
        {"target": target * UNITS},
    )
    rows = db.sql("select part, template, count(*) from parted group by all").fetchall()
    db.execute(
        """delete from parted where row in (
            select row from shares join cut_off using (part, template) where share > sure and share >= $least)""",
        {"least": least_share},
    )
    db.execute("drop table shares")
    db.execute("drop table cut_off")
    return {(part, template): n for part, template, n in rows}
