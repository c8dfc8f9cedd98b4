"""The report in a real browser: filter, sorting, links, narrow and dark screens, keyboard."""

from __future__ import annotations

import shutil

import pytest

from lightningalg.cli.main import run as command
from lightningalg.worksheets.model import read_worksheet
from lightningalg.worksheets.runner import run_worksheets
from tests.worksheets.test_report import WORKSHEET

webdriver = pytest.importorskip("selenium.webdriver")
BROWSER, DRIVER = shutil.which("chromium"), shutil.which("chromedriver")

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(BROWSER is None or DRIVER is None, reason="needs chromium and chromedriver"),
]


@pytest.fixture(scope="module")
def index(tmp_path_factory) -> str:
    folder = tmp_path_factory.mktemp("run")
    (folder / "small.toml").write_text(WORKSHEET)
    run_worksheets([read_worksheet(folder / "small.toml")], out=folder / "out", jobs=1)
    assert command(["report", str(folder / "out")]) == 0
    return (folder / "out/report/index.html").as_uri()


@pytest.fixture(scope="module")
def browser():
    options = webdriver.ChromeOptions()
    options.binary_location = BROWSER
    for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"):
        options.add_argument(argument)
    driver = webdriver.Chrome(options=options, service=webdriver.ChromeService(executable_path=DRIVER))
    try:
        yield driver
    finally:
        driver.quit()


def shown(browser) -> list[str]:
    rows = "[...document.querySelectorAll('#claim-table tbody tr')]"
    return browser.execute_script(f"return {rows}.filter(r => !r.hidden).map(r => r.cells[0].innerText)")


def enter(browser, element, value) -> None:
    browser.execute_script(
        "const e = document.getElementById(arguments[0]); e.value = arguments[1];"
        "e.dispatchEvent(new Event('input', {bubbles: true}))",
        element,
        value,
    )


def test_filter_by_text_and_verdict(browser, index):
    browser.get(index)
    assert len(shown(browser)) == 3
    enter(browser, "filter-text", "2ad d^2")  # words of the statement
    assert len(shown(browser)) == 1
    enter(browser, "filter-text", "")
    enter(browser, "filter-verdict", "refuted")
    assert shown(browser) == ["wrong"]
    assert browser.execute_script("return document.getElementById('filter-count').value") == "1 of 3 shown"


def test_sorting_by_numbers_and_back(browser, index):
    browser.get(index)
    (head,) = [
        h
        for h in browser.find_elements("css selector", "#claim-table th button")
        if h.text.startswith("Instances")
    ]
    counts = (
        "return [...document.querySelectorAll('#claim-table tbody tr')].map(r => +r.cells[5].dataset.sort)"
    )
    head.click()
    assert browser.execute_script(counts) == [1, 1, 6]
    head.send_keys("\n")  # by keyboard
    assert browser.execute_script(counts) == [6, 1, 1]
    assert head.find_element("xpath", "..").get_attribute("aria-sort") == "descending"


def test_every_claim_page_opens_from_the_table_and_leads_back(browser, index):
    browser.get(index)
    links = [
        a.get_attribute("href")
        for a in browser.find_elements("css selector", "#claim-table tbody a[href*='claims/']")
    ]
    assert len(links) == 3
    for link in links:
        browser.get(link)
        assert browser.find_elements("css selector", "h1")
        browser.find_element("css selector", ".top > a").click()
        assert browser.current_url == index


def test_formulas_are_mathematics(browser, index):
    browser.get(index.replace("index.html", "claims/small--dimension.html"))
    power = browser.find_element("css selector", ".formula math msup")
    assert power.size["height"] > 0


@pytest.mark.parametrize("page", ["index.html", "claims/small--dimension.html", "claims/small--wrong.html"])
def test_a_narrow_screen_needs_no_sideways_scrolling(browser, index, page):
    browser.set_window_size(500, 900)
    try:
        browser.get(index.replace("index.html", page))
        wide = "return document.documentElement.scrollWidth - document.documentElement.clientWidth"
        assert browser.execute_script(wide) <= 0
    finally:
        browser.set_window_size(1300, 900)


def test_dark_screens_have_dark_paper(browser, index):
    colours = []
    for scheme in ("light", "dark"):
        media = {"features": [{"name": "prefers-color-scheme", "value": scheme}]}
        browser.execute_cdp_cmd("Emulation.setEmulatedMedia", media)
        browser.get(index)
        colours.append(browser.execute_script("return getComputedStyle(document.body).backgroundColor"))
    light, dark = (sum(int(c) for c in colour[4:-1].split(",")) for colour in colours)
    assert light > 700 and dark < 120


def test_nothing_fails_in_the_console(browser, index):
    browser.get(index)
    browser.get(index.replace("index.html", "claims/small--dimension.html"))
    assert [entry for entry in browser.get_log("browser") if entry["level"] == "SEVERE"] == []
