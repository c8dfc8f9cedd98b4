"""The pages of a report, from its records."""

from __future__ import annotations

from functools import cache
from importlib.resources import files

from jinja2 import Environment, PackageLoader, StrictUndefined, select_autoescape
from markupsafe import Markup

from lightningalg.render.html.records import Report


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("lightningalg.render.html", "templates"),
        autoescape=select_autoescape(default=True, default_for_string=True),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["markup"] = Markup  # for the charts and MathML of this package only
    environment.filters["slug"] = lambda text: text.replace(" ", "-")
    return environment


def render_report(report: Report) -> dict[str, str]:
    """Return the report's files: relative path to content; ``index.html`` comes last.

    All texts of the records are untrusted and escaped; figures and MathML are this package's own.
    The pages refer to nothing outside themselves and the folder of the run.

    Examples
    --------
    >>> sorted(render_report(Report("Empty", (), True, 0.0)))
    ['index.html', 'report.js', 'style.css']
    """
    templates = files("lightningalg.render.html").joinpath("templates")
    result = {name: templates.joinpath(name).read_text("utf-8") for name in ("style.css", "report.js")}
    claim_page = _environment().get_template("claim.html.j2")
    pages = {claim.key: claim for claim in report.claims}
    for before, claim, after in zip(
        [None, *report.claims], report.claims, [*report.claims[1:], None], strict=False
    ):
        result[f"claims/{claim.page}"] = claim_page.render(
            report=report, claim=claim, pages=pages, before=before, after=after, root="../"
        )
    result["index.html"] = _environment().get_template("index.html.j2").render(report=report, root="")
    return result
