"""What the models learn from random comparisons (dt-pbo, Figure 8), beside the truth."""

from __future__ import annotations

from models.records.studies.benchmark_results import (
    FUNCTION,
    LOWER,
    MEAN,
    MODEL,
    N_DIMENSIONS,
    N_RUNS,
    SURFACE_AGREEMENT,
    SURFACE_RANKS,
    TRUTH,
    UPPER,
    UTILITY,
    X,
    Y,
)
from reports.benchmark.results import SHORT, Results, in_pairs, title
from reports.figures.surfaces import Surface, draw_surfaces
from reports.page import style
from reports.page.blocks import Block, Column, Figure, Picture, Prose, Row, Section, Table
from reports.page.wording import MISSING, between, fixed


def surface_section(results: Results) -> Section:
    """The pictures of every function, and how well each model ranks its places."""
    n = results.run.record.config["comparisons"]
    about = Prose(
        [
            f"Each model learns from the same {n} comparisons of random points. Comparisons tell an order and no more, "
            "so the pictures show ranks: the share of all places with a lower utility. Kendall’s tau says how alike "
            "two orders are: 1 for the same order, 0 for no relation."
        ]
    )
    return Section("What is learned from random pairs", [about, *_pictures(results), _agreement(results)])


def _pictures(results: Results) -> list[Block]:
    ranks = results.run.table(SURFACE_RANKS, (FUNCTION, N_DIMENSIONS, MODEL, X, Y, UTILITY))
    alike = results.run.table(SURFACE_AGREEMENT, (FUNCTION, MODEL, MEAN)).set_index([FUNCTION, MODEL])[MEAN]
    pictures = []
    for function in results.functions:
        own = ranks[ranks[FUNCTION] == function]
        surfaces = []
        for model in (TRUTH, *results.models):
            rows = own[own[MODEL] == model].sort_values([Y, X])
            if len(rows):
                side = round(len(rows) ** 0.5)
                note = "" if model == TRUTH else f"τ {fixed(float(alike[function, model]), 2)}"
                grid = rows[UTILITY].to_numpy(float).reshape(side, side)
                surfaces.append(Surface("truth" if model == TRUTH else SHORT[model], note, grid))
        d = int(own[N_DIMENSIONS].iloc[0])
        name = title(function, d) + (", slice at 0.7" if d > 2 else "")
        alt = f"{name}: " + "; ".join(f"{each.title} {each.note}".strip() for each in surfaces)
        drawing = style.to_svg(draw_surfaces(name, surfaces))
        pictures.append(Picture(f"surface-{function}", drawing, style.HALF_WIDTH, alt))
    caption = (
        "The darker a place, the higher its rank. The first run of each model; τ: mean over runs of Kendall’s tau with "
        "the truth over the places shown."
    )
    return [
        Figure(pair, "Learned surfaces" + (", continued." if at else " (as dt-pbo, Figure 8)."), "" if at else caption)
        for at, pair in enumerate(in_pairs(pictures))
    ]


def _agreement(results: Results) -> Table:
    columns = (FUNCTION, N_DIMENSIONS, MODEL, MEAN, LOWER, UPPER, N_RUNS)
    table = results.run.table(SURFACE_AGREEMENT, columns)
    found = {(str(row[FUNCTION]), str(row[MODEL])): row for row in table.to_dict("records")}
    rows = []
    for function in results.functions:
        cells, d = [], 0
        for model in results.models:
            row = found.get((function, model))
            if row is None:
                cells += [MISSING, MISSING]
                continue
            d = int(row[N_DIMENSIONS])
            cells += [fixed(float(row[MEAN]), 2), between(float(row[LOWER]), float(row[UPPER]), 2)]
        rows.append(Row((title(function, d or None), *cells)))
    return Table(
        f"Kendall’s tau of each model with the truth: mean over {int(table[N_RUNS].max())} sets of comparisons.",
        [
            Column("", "left"),
            *(Column(header, group=SHORT[model]) for model in results.models for header in ("tau", "95% interval")),
        ],
        rows,
        note="Intervals are over other sets of comparisons.",
    )
