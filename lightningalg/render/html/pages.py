"""The pages of a report, from its records."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from importlib.resources import files

from jinja2 import Environment, PackageLoader, StrictUndefined, select_autoescape
from markupsafe import Markup, escape

from lightningalg.render.html.records import VERDICTS, Report
from lightningalg.render.typed import signs

_WRITTEN = (
    (re.compile(r"\^\(([^()&<>]{1,16})\)"), r"<sup>\1</sup>"),
    (re.compile(r"\^([0-9]+|[A-Za-z])(?![A-Za-z])"), r"<sup>\1</sup>"),
    (re.compile(r"\b([A-Za-zα-ω]{1,2})_([0-9]{1,2}|[A-Za-z])(?![A-Za-z0-9_])"), r"\1<sub>\2</sub>"),
    (re.compile(r"\b([A-Z])_([a-z]{2,6})(?![A-Za-z0-9_])"), r"\1<sub>\2</sub>"),
    (re.compile(r"\b([A-Za-zα-ω])_\(([^()&<>]{1,16})\)"), r"\1<sub>\2</sub>"),
)


def pretty(text: str) -> Markup:
    """Return a text that a person typed, escaped, with its powers, indices and signs as in print.

    Examples
    --------
    >>> print(pretty("a <= d^2 - d_1 <b>"))
    a ≤ d<sup>2</sup> − d<sub>1</sub> &lt;b&gt;
    """
    shown = str(escape(signs(text)))
    for found, replacement in _WRITTEN:
        shown = found.sub(replacement, shown)
    return Markup(shown)  # escaped above; the replacements add fixed tags alone


def _rank(verdict: str) -> int:
    return VERDICTS.index(verdict) if verdict in VERDICTS else len(VERDICTS)


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("lightningalg.render.html", "templates"),
        autoescape=select_autoescape(default=True, default_for_string=True),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["markup"] = Markup  # for the charts, proofs and MathML of this package only
    environment.filters["slug"] = lambda text: text.replace(" ", "-")
    environment.filters["pretty"] = pretty
    environment.filters["rank"] = _rank
    return environment


def _silent(_: str) -> None:
    return None


def render_report(report: Report, progress: Callable[[str], None] = _silent) -> dict[str, str | bytes]:
    """Return the report's files: relative path to content; ``index.html`` comes last.

    All texts of the records are untrusted and escaped; figures, proofs and MathML are this package's own.
    The pages refer to nothing outside themselves and the folder of the run.

    Examples
    --------
    >>> sorted(render_report(Report("Empty", (), True, 0.0)))
    ['index.html', 'report.js', 'style.css']
    """
    templates = files("lightningalg.render.html").joinpath("templates")
    result: dict[str, str | bytes] = {
        name: templates.joinpath(name).read_text("utf-8") for name in ("style.css", "report.js")
    }
    claim_page = _environment().get_template("claim.html.j2")
    pages = {claim.key: claim for claim in report.claims}
    for before, claim, after in zip(
        [None, *report.claims], report.claims, [*report.claims[1:], None], strict=False
    ):
        progress(f"page of {claim.key}")
        result |= {figure.file: figure.content for figure in claim.figures if figure.file}
        result[f"claims/{claim.page}"] = claim_page.render(
            report=report, claim=claim, pages=pages, before=before, after=after, root="../", here="claim"
        )
    if report.paper is not None:
        page = _environment().get_template("paper.html.j2")
        result["paper.html"] = page.render(report=report, root="", here="paper")
    page = _environment().get_template("index.html.j2")
    result["index.html"] = page.render(report=report, root="", here="index")
    return result
