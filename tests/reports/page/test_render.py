from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest

from models.records.errors import OutputError
from reports.page.finished_run import NotARunError, open_run
from reports.page.render import Rendered, render
from reports.respondents.tree_accuracy import unscored_users
from tasks.respondents.summaries import write_tree_summaries

WriteRun = Callable[..., Path]


def text_of(html: Path) -> str:
    """The text of the page, without styles, pictures and tags."""
    body = re.sub(r"(?s)<style>.*?</style>|<svg.*?</svg>", " ", html.read_text("utf-8"))
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", body))


def edit_json(path: Path, change: Callable[[object], object]) -> None:
    path.write_text(json.dumps(change(json.loads(path.read_text("utf-8")))), "utf-8")


def test_the_page_opens_with_the_answer_computed_from_the_results(write_run: WriteRun) -> None:
    run = write_run()
    opening = text_of(render(run).html)[:1200]
    assert "accuracy 0.854 (standard deviation 0.13 over 400 users), with 8.7 leaves" in opening
    assert "are kept, accuracy is 0.888, with 54.2 leaves" in opening
    assert "A tree with straddlers kept has a higher accuracy than one with straddlers discarded, by" in opening


@pytest.mark.parametrize(
    ("lower", "upper", "said"),
    [
        (-0.05, -0.01, "A tree with straddlers kept has a lower accuracy than one with straddlers discarded, by 3.0"),
        (-0.05, 0.01, "These data show no difference in accuracy between a tree with straddlers kept and one"),
        (None, None, "has the higher accuracy cannot be told"),
    ],
)
def test_what_the_opening_says_of_two_variants_follows_from_their_interval(
    write_run: WriteRun, lower: float | None, upper: float | None, said: str
) -> None:
    run = write_run()

    def put(differences: object) -> object:
        assert isinstance(differences, dict)
        differences["straddlers_kept"] |= {"estimate": -0.03, "lower": lower, "upper": upper}
        return differences

    edit_json(run / "results" / "accuracy_differences.json", put)
    assert said in text_of(render(run).html)[:1200]


def test_published_stands_beside_found_with_the_difference_in_points(real_report: Rendered) -> None:
    page = text_of(real_report.html)
    assert "accuracy 0.987 0.985 to 0.989 0.998 −1.1 0.854 0.841 to 0.867 0.888 −3.4" in page
    assert "strict accuracy 0.981 0.979 to 0.983 – – 0.783 0.771 to 0.796 – –" in page


def test_the_page_needs_no_other_file_no_network_and_no_script(real_report: Rendered) -> None:
    html = real_report.html.read_text("utf-8")
    assert "<script" not in html
    without_namespaces = re.sub(r'xmlns(:\w+)?="[^"]*"', "", html)
    assert not re.findall(r"https?://|src=|<link|@import", without_namespaces)
    assert set(re.findall(r"url\(([^)]{4})", html)) <= {"data", *re.findall(r"url\((#\w{3})", html)}


def test_ids_inside_the_page_are_unique_and_referred_to(real_report: Rendered) -> None:
    html = real_report.html.read_text("utf-8")
    ids = re.findall(r'\bid="([^"]+)"', html)
    assert len(ids) == len(set(ids))
    assert set(re.findall(r'(?:url\(|href=")#([^)"]+)', html)) <= set(ids)


def test_rendering_again_gives_the_same_bytes_and_leaves_nothing_aside(write_run: WriteRun) -> None:
    run = write_run()

    def contents() -> dict[str, bytes]:
        render(run)
        files = [path for path in run.rglob("*") if path.is_file()]
        return {str(path.relative_to(run)): path.read_bytes() for path in files}

    first, second = contents(), contents()
    assert first == second
    assert {"report.html", "report.pdf", "figures/tree.svg", "figures/tree-large.svg"} <= set(first)
    assert not [name for name in first if Path(name).name.startswith(".")]


def test_simulated_and_unpinned_data_are_named_and_not_compared_with_people(simulated_report: Rendered) -> None:
    html = simulated_report.html
    page = text_of(html)
    assert page.lstrip().split(" Sushi ")[0].endswith("SIMULATED DATA · UNPINNED DATA")
    assert '@top-right { content: "SIMULATED DATA · UNPINNED DATA"' in html.read_text("utf-8")
    assert "what was published about people cannot be compared" in page
    assert "0.998" not in page
    assert "Published beside found" not in page


def test_real_data_carry_no_warning(real_report: Rendered) -> None:
    assert "SIMULATED" not in real_report.html.read_text("utf-8")


@pytest.mark.skipif(shutil.which("pdftotext") is None, reason="pdftotext (poppler) is not on this machine")
def test_every_page_of_the_pdf_says_that_data_are_simulated(simulated_report: Rendered) -> None:
    pdf = simulated_report.pdf
    pages = subprocess.run(["pdftotext", str(pdf), "-"], capture_output=True, text=True, check=True).stdout.split("\f")
    pages = [page for page in pages if page.strip()]
    assert len(pages) > 1
    assert all("SIMULATED DATA" in page for page in pages)


@pytest.mark.skipif(shutil.which("pdftotext") is None, reason="pdftotext (poppler) is not on this machine")
def test_the_pdf_gives_back_its_words_letter_by_letter(real_report: Rendered) -> None:
    told = subprocess.run(["pdftotext", str(real_report.pdf), "-"], capture_output=True, text=True, check=True).stdout
    assert {"differ", "difference", "left"} <= set(re.findall(r"\w+", told))
    assert "\ufffd" not in told


def test_a_table_and_its_caption_are_told_once_on_screen_and_once_on_paper(real_report: Rendered) -> None:
    html = real_report.html.read_text("utf-8")
    assert html.count('<figcaption class="on-screen"><b>Table 1.</b>') == 1
    assert html.count('<tr class="on-paper" aria-hidden="true"><td colspan="9"><b>Table 1.</b>') == 1


def test_users_of_whom_nothing_could_be_held_out_are_counted(write_run: WriteRun) -> None:
    run = write_run()
    assert unscored_users(open_run(run)) == []
    users = pd.read_parquet(run / "results" / "users.parquet")
    users.loc[users.groupby("variant").head(1).index, "test_accuracy"] = None
    write_tree_summaries(run / "results", dict(iter(users.groupby("variant"))))
    [prose] = unscored_users(open_run(run), who="respondent")
    many = len(users) // 2
    assert prose.paragraphs == [
        f"The table has {many:,} respondents. One has too few choices to hold any out: accuracy on held-out choices is "
        f"that of {many - 1:,} respondents."
    ]


@pytest.mark.skipif(shutil.which("pdffonts") is None, reason="pdffonts (poppler) is not on this machine")
def test_every_font_of_the_pdf_is_one_of_ours_and_embedded(real_report: Rendered) -> None:
    pdf = real_report.pdf
    lines = subprocess.run(["pdffonts", str(pdf)], capture_output=True, text=True, check=True).stdout.splitlines()[2:]
    assert lines
    assert all(re.match(r"[A-Z]{6}\+Source(Sans|Serif)Pro-", line) for line in lines)
    assert all(line.split()[-5] == "yes" for line in lines)


def test_what_the_numbers_rest_on_is_told(simulated_report: Rendered) -> None:
    page = text_of(simulated_report.html)
    for told in (
        "Made-up rankings for the tests of a report",
        "no redistribution without permission",
        "3 rankings: fewer than two items",
        "The ids of the ten items are not those of the hundred.",
        "rankings.order 125,005 a7a7a7a7a7a7a7a7… simulated",
        "tie_break = random",
        "numpy 2.4.6",
        "commit 0123456789",
        "try protocols 61.0",
    ):
        assert told in page


def test_text_of_the_data_cannot_become_markup(write_run: WriteRun) -> None:
    run = write_run()
    document = (run / "run.json").read_text("utf-8")
    (run / "run.json").write_text(document.replace("Made-up rankings", "<script>alert(1)</script>"), "utf-8")
    html = render(run).html.read_text("utf-8")
    assert "<script>" not in html
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in html


@pytest.mark.parametrize(
    ("shift", "says"),
    [
        ({"discard": 0.0, "keep": 0.0}, "Only the tree with straddlers kept comes within half a point"),
        ({"discard": 0.031, "keep": -0.05}, "Only the tree with straddlers discarded comes within half a point"),
        ({"discard": 0.031, "keep": 0.0}, "so it does not tell them apart"),
        ({"discard": -0.1, "keep": -0.1}, "No protocol tried comes within half a point"),
    ],
)
def test_whose_the_published_figure_is_follows_from_the_protocols(
    shift: dict[str, float], says: str, write_run: WriteRun, protocols: pd.DataFrame
) -> None:
    tried = protocols.assign(
        train_accuracy=0.998, test_accuracy=protocols["test_accuracy"] + protocols["straddlers"].map(shift)
    )
    assert says in text_of(render(write_run(tried=tried)).html)


def test_a_run_that_tried_only_its_two_variants_is_reported(write_run: WriteRun, protocols: pd.DataFrame) -> None:
    own = protocols.query("split == 'pair' and tie_break == 'lowest' and encoding == 'categorical_3' and ratio == 0.25")
    text = text_of(render(write_run(tried=own)).html)
    assert "Other protocols were not tried" in text
    assert "Only the two variants were fitted in this run" in text
    assert "within half a point" not in text
    assert "protocols tried, on" not in text


def test_a_folder_that_is_no_run_is_refused_by_name(tmp_path: Path) -> None:
    with pytest.raises(NotARunError, match=re.escape(f"{tmp_path} is not the folder of a run: it has no run.json")):
        render(tmp_path)


@pytest.mark.parametrize(
    "name",
    [
        "metrics.json",
        "users.parquet",
        "protocols.parquet",
        "nearest_protocols.json",
        "example_tree.json",
        "data_cards.json",
    ],
)
def test_a_missing_result_is_refused_by_name(name: str, write_run: WriteRun) -> None:
    run = write_run()
    (run / "results" / name).unlink()
    with pytest.raises(NotARunError, match=f"{re.escape(name)} is missing"):
        render(run)


def test_a_damaged_table_a_missing_column_and_an_unknown_study_are_refused_by_name(write_run: WriteRun) -> None:
    run = write_run()
    users = run / "results" / "users.parquet"
    pd.read_parquet(users).drop(columns="leaves").to_parquet(users)
    with pytest.raises(NotARunError, match=r"users\.parquet has no column leaves; found user_id"):
        render(run)
    users.write_bytes(users.read_bytes()[:100])
    with pytest.raises(NotARunError, match=r"users\.parquet cannot be read as Parquet"):
        render(run)
    (run / "run.json").write_text((run / "run.json").read_text("utf-8").replace('"study":"sushi"', '"study":"html"'))
    with pytest.raises(NotARunError, match=r"run\.json: there is no report page for a study 'html'"):
        render(run)


def test_a_metric_that_is_not_there_once_is_refused(write_run: WriteRun) -> None:
    run = write_run()
    edit_json(run / "results" / "metrics.json", lambda rows: [row for row in rows if row["metric"] != "depth"])  # type: ignore[attr-defined]
    with pytest.raises(NotARunError, match="expected one row for depth / straddlers_discarded / train, found 0"):
        render(run)


def test_an_example_tree_whose_leaves_disagree_is_refused(write_run: WriteRun) -> None:
    run = write_run()

    def shorten(example: object) -> object:
        assert isinstance(example, dict)
        example["trees"]["straddlers_kept"]["leaf_mean"].pop()
        return example

    edit_json(run / "results" / "example_tree.json", shorten)
    with pytest.raises(
        NotARunError, match=r"example_tree\.json, trees\.straddlers_kept: .* do not have the same leaves"
    ):
        render(run)


def test_a_folder_that_cannot_be_written_is_an_output_error(write_run: WriteRun) -> None:
    run = write_run()
    (run / "figures").write_text("in the way")
    with pytest.raises(OutputError, match="The report cannot be written to"):
        render(run)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {},
            r"prefstudy 0\.1\.0 \(commit 0123456789\) wrote this run in format 1; this version reads format 3\.",
        ),
        (
            {"packages": {"prefstudy": "<b>"}, "git_commit": None, "data": 3},
            "an unknown version of prefstudy wrote",
        ),
        ({"format": 4, "new": 1}, r"wrote this run in format 4; this version reads format 3\. Update prefstudy\."),
        ({"format": "2"}, r"run\.json, format: expected a whole number"),
    ],
)
def test_a_run_of_another_format_is_refused_by_number_and_writer_before_anything_is_written(
    write_run: WriteRun, changes: dict[str, object], message: str
) -> None:
    run = write_run()

    def another(record: object) -> object:
        assert isinstance(record, dict)
        return {name: value for name, value in record.items() if name != "format"} | changes

    edit_json(run / "run.json", another)
    with pytest.raises(NotARunError, match=message):
        render(run)
    assert {path.name for path in run.iterdir()} == {"run.json", "results"}
