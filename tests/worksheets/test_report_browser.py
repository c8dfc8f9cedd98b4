"""The report in a real browser: filter, order, links, keyboard, copying, narrow and dark screens."""

from __future__ import annotations

import json
import shutil
import threading
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import urlparse
from urllib.request import url2pathname

import pytest

from lightningalg.cli.main import run as command

webdriver = pytest.importorskip("selenium.webdriver")
WebDriverWait = pytest.importorskip("selenium.webdriver.support.ui").WebDriverWait
Keys = pytest.importorskip("selenium.webdriver.common.keys").Keys
BROWSER, DRIVER = shutil.which("chromium"), shutil.which("chromedriver")

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(BROWSER is None or DRIVER is None, reason="needs chromium and chromedriver"),
]
PAGES = ["index.html", "paper.html", "claims/small--dimension.html", "claims/small--wrong.html"]
ROW = {
    "worksheet": "small", "claim": "degrees", "title": "T", "verdict": "certified", "declared": "certified",
    "strength": "exact", "instances": 1, "folder": "small/degrees", "proof": None, "seconds": 0.1,
}  # fmt: skip


@pytest.fixture(scope="module")
def index(small_run, tmp_path_factory) -> str:
    folder = tmp_path_factory.mktemp("browser") / "out"
    shutil.copytree(small_run, folder)
    summary = json.loads((folder / "summary.json").read_text())
    statement = {"id": "s", "part": "Part", "where": "1", "text": "A statement", "rows": [ROW]}
    summary["table"] = {"statements": [statement], "others": []}
    (folder / "summary.json").write_text(json.dumps(summary))
    assert command(["report", str(folder)]) == 0
    return (folder / "report/index.html").as_uri()


@pytest.fixture(scope="module")
def browser():
    options = webdriver.ChromeOptions()
    options.binary_location = BROWSER
    for argument in (
        "--headless=new",
        "--no-sandbox",
        "--disable-gpu",
        "--disable-dev-shm-usage",
        "--force-prefers-reduced-motion",
    ):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    driver = webdriver.Chrome(options=options, service=webdriver.ChromeService(executable_path=DRIVER))
    driver.set_window_size(1300, 900)
    try:
        yield driver
    finally:
        driver.quit()


def page(index: str, name: str) -> str:
    return index.replace("index.html", name)


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


def fresh(browser, address: str) -> None:
    browser.get("about:blank")
    browser.get(address)


def test_filter_by_text_verdict_kind_strength_and_worksheet(browser, index):
    fresh(browser, index)
    assert len(shown(browser)) == 3
    enter(browser, "filter-text", "2ad d^2")  # words of the statement
    assert len(shown(browser)) == 1
    enter(browser, "filter-text", "")
    enter(browser, "filter-verdict", "refuted")
    assert shown(browser) == ["wrong"]
    assert browser.execute_script("return document.getElementById('filter-count').value") == "1 of 3 shown"
    enter(browser, "filter-kind", "degrees")
    assert shown(browser) == []
    assert browser.find_element("id", "nothing").is_displayed()
    browser.find_element("id", "filter-clear").click()
    assert len(shown(browser)) == 3
    enter(browser, "filter-kind", "degrees")
    assert shown(browser) == ["degrees"]
    enter(browser, "filter-strength", "exact")
    enter(browser, "filter-worksheet", "small")
    assert shown(browser) == ["degrees"]


def test_filter_and_order_are_kept_in_the_address(browser, index):
    fresh(browser, index)
    enter(browser, "filter-kind", "dimension")
    head = browser.find_elements("css selector", "#claim-table th button")[5]
    head.click()
    head.click()
    before, address = shown(browser), browser.current_url
    assert "kind=dimension" in address and "sort=5-" in address
    fresh(browser, address)
    assert shown(browser) == before
    assert (
        browser.find_elements("css selector", "#claim-table th")[5].get_attribute("aria-sort") == "descending"
    )
    fresh(browser, index + "#verdict=no-such&sort=99&kind=%3Cscript%3E")
    assert len(shown(browser)) == 3
    browser.find_element("css selector", ".tiles .refuted a").click()
    assert shown(browser) == ["wrong"]
    browser.find_element("css selector", ".filter button[type=reset]").click()
    assert len(shown(browser)) == 3 and "#" not in browser.current_url


@pytest.mark.parametrize("column", range(8))
def test_every_column_sorts_both_ways(browser, index, column):
    fresh(browser, index)
    cells = (
        "return [...document.querySelectorAll('#claim-table tbody tr')].map(r => {"
        " const c = r.cells[arguments[0]]; return c.dataset.sort ?? c.textContent.trim(); })"
    )
    head = browser.find_elements("css selector", "#claim-table th")[column]
    head.find_element("css selector", "button").click()
    up = browser.execute_script(cells, column)
    assert head.get_attribute("aria-sort") == "ascending"
    head.find_element("css selector", "button").send_keys("\n")  # by keyboard
    assert head.get_attribute("aria-sort") == "descending"
    down = browser.execute_script(cells, column)
    assert down == up[::-1] or len(set(up)) < len(up)
    if all(value.replace(".", "").isdigit() for value in up):
        assert [float(v) for v in up] == sorted(float(v) for v in up)


def test_every_link_of_the_report_opens(browser, index):
    seen, wanted = set(), [index]
    while wanted:
        address = wanted.pop()
        if address in seen:
            continue
        seen.add(address)
        browser.get(address)
        assert browser.find_elements("css selector", "h1"), address
        links = browser.execute_script(
            "return [...document.querySelectorAll('a')].filter(a => !a.hasAttribute('download')).map(a =>"
            " a.href.baseVal !== undefined ? new URL(a.href.baseVal, document.baseURI).href : a.href)"
        )
        inside = {link.partition("#")[0] for link in links if link.startswith("file:")}
        wanted += [link for link in inside if link.endswith(".html")]
    assert len(seen) == 5  # first page, paper, three claims
    browser.get(index)
    browser.find_element("css selector", "#claim-table tbody a").click()
    assert "/claims/" in browser.current_url
    browser.find_element("css selector", ".top a.home").click()
    assert browser.current_url == index


@pytest.fixture
def served(index):
    """The run's folder as a server on this machine publishes it."""
    folder = Path(url2pathname(urlparse(index).path)).parents[1]

    class Handler(SimpleHTTPRequestHandler):
        def __init__(self, *arguments):
            super().__init__(*arguments, directory=str(folder))

        def log_message(self, *arguments):
            return

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/report/index.html"
    server.shutdown()
    server.server_close()
    thread.join(5)


CERTIFICATE = "#instances ~ .wide a[download]"


def test_certificates_can_be_downloaded_from_a_server(browser, served, tmp_path):
    behaviour = {"behavior": "allow", "downloadPath": str(tmp_path)}
    browser.execute_cdp_cmd("Browser.setDownloadBehavior", behaviour)
    browser.get(page(served, "claims/small--degrees.html"))
    assert (
        browser.execute_script("return getComputedStyle(document.body).margin") == "0px"
    )  # the style is there
    link = browser.find_element("css selector", CERTIFICATE)
    title = link.get_attribute("title")
    link.click()
    WebDriverWait(browser, 10).until(lambda _: list(tmp_path.glob("*.json")))
    (file,) = tmp_path.glob("*.json")
    assert title == "SHA-256 " + json.loads(file.read_text())["sha256"]


def test_certificates_open_from_a_folder(browser, index):
    """Chromium does not download what a file links to; it shows it, and it can be saved."""
    browser.get(page(index, "claims/small--degrees.html"))
    link = browser.find_element("css selector", CERTIFICATE)
    title = link.get_attribute("title")
    link.click()
    WebDriverWait(browser, 10).until(lambda _: browser.current_url.endswith(".json"))
    assert title.removeprefix("SHA-256 ") in browser.page_source


def test_the_command_is_copied_with_and_without_a_clipboard(browser, index):
    browser.execute_cdp_cmd(
        "Browser.grantPermissions", {"permissions": ["clipboardReadWrite", "clipboardSanitizedWrite"]}
    )
    browser.get(page(index, "claims/small--degrees.html"))
    button = browser.find_elements("css selector", "button.copy")[-1]
    wanted = button.find_element("xpath", "..").find_element("css selector", "code").text
    assert wanted.startswith("lightningalg verify small/degrees/") and wanted.endswith(".json")
    button.click()
    said = "return document.getElementById('said').textContent"
    waits = (
        "const done = arguments[0]; setTimeout(() => done(document.getElementById('said').textContent), 300)"
    )
    assert browser.execute_async_script(waits) == "Copied."
    pasted = browser.execute_async_script(
        "const done = arguments[0]; window.focus();"
        "navigator.clipboard.readText().then(done, () => done('refused'))"
    )
    assert pasted in (wanted, "refused")
    browser.execute_script(
        "Object.defineProperty(navigator, 'clipboard', {value: undefined});document.execCommand = () => false"
    )
    button.click()
    browser.execute_async_script(waits)
    assert "selected" in browser.execute_script(said)
    assert browser.execute_script("return getSelection().toString()") == wanted


def test_formulas_are_mathematics(browser, index):
    browser.get(page(index, "claims/small--dimension.html"))
    power = browser.find_element("css selector", ".formula math msup")
    assert power.size["height"] > 0
    fractions = browser.find_elements("css selector", "article.proof math")
    assert len(fractions) > 100 and all(f.size["height"] > 0 for f in fractions[:40])


@pytest.mark.parametrize("width", [320, 360, 640, 1280])  # 640: a screen of 1280 at 200 %
@pytest.mark.parametrize("name", PAGES)
def test_no_screen_needs_sideways_scrolling(browser, index, name, width):
    metrics = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
    try:
        browser.get(page(index, name))
        wide = "return document.documentElement.scrollWidth - document.documentElement.clientWidth"
        assert browser.execute_script(wide) <= 0
    finally:
        browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def test_dark_screens_have_dark_paper(browser, index):
    colours = []
    try:
        for scheme in ("light", "dark"):
            media = {"features": [{"name": "prefers-color-scheme", "value": scheme}]}
            browser.execute_cdp_cmd("Emulation.setEmulatedMedia", media)
            browser.get(index)
            script = "return getComputedStyle(document.body).backgroundColor"
            colours.append(browser.execute_script(script))
    finally:
        browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})
    light, dark = (sum(int(c) for c in colour[4:-1].split(",")) for colour in colours)
    assert light > 700 and dark < 120


def test_the_keyboard_is_enough(browser, index):
    fresh(browser, index)
    actions = webdriver.ActionChains(browser)
    active = "return [document.activeElement.tagName, document.activeElement.textContent.trim().slice(0, 15)]"
    actions.send_keys(Keys.TAB).perform()
    assert browser.execute_script(active) == ["A", "Skip to content"]
    assert browser.switch_to.active_element.location["x"] >= 0  # it shows itself
    webdriver.ActionChains(browser).send_keys(Keys.ENTER).perform()
    assert browser.execute_script("return document.activeElement.id") == "main"
    stops = []
    for _ in range(40):
        webdriver.ActionChains(browser).send_keys(Keys.TAB).perform()
        element = browser.switch_to.active_element
        outline = element.value_of_css_property("outline-style")
        stops.append((element.tag_name, element.get_attribute("id"), outline))
        if element.tag_name == "body":
            break
    assert [s for s in stops if s[2] == "none" and s[0] not in ("body", "a")] == []
    names = [name for _, name, _ in stops]
    assert all(f"filter-{name}" in names for name in ("text", "verdict", "kind", "strength", "worksheet"))
    assert [tag for tag, _, _ in stops].count("button") >= 8  # every heading of the table


CHECKS = """
const bad = [];
const named = (e) => (e.getAttribute('aria-label') || e.getAttribute('alt') || e.title
  || e.textContent || (e.labels?.[0]?.textContent) || '').trim();
const own = 'button, a[href], input, select, summary, [role=region], [role=img]';
for (const e of document.querySelectorAll(own))
  if (!named(e) && !(e.getAttribute('aria-labelledby'))) bad.push('no name: ' + e.outerHTML.slice(0, 80));
for (const e of document.querySelectorAll('input, select'))
  if (!e.labels.length) bad.push('no label: ' + e.outerHTML.slice(0, 80));
for (const e of document.querySelectorAll('img')) if (!e.alt) bad.push('no alt: ' + e.src);
for (const e of document.querySelectorAll('svg')) if (!named(e)) bad.push('no name of a figure');
for (const e of document.querySelectorAll('[tabindex]')) if (e.tabIndex > 0) bad.push('tabindex');
for (const e of document.querySelectorAll('table'))
  if (!e.querySelector('th[scope]')) bad.push('table without headings');
for (const e of document.querySelectorAll('nav, section'))
  if (!e.getAttribute('aria-label') && !e.getAttribute('aria-labelledby'))
    bad.push('no name: ' + e.outerHTML.slice(0, 60));
for (const [tag, number] of [['h1', 1], ['main', 1], ['body > header', 1], ['body > footer', 1]])
  if (document.querySelectorAll(tag).length !== number) bad.push(tag);
let level = 0;
for (const e of document.querySelectorAll('h1, h2, h3, h4')) {
  const next = +e.tagName[1];
  if (next > level + 1) bad.push('heading skips a level: ' + e.textContent);
  level = next;
}
const ids = [...document.querySelectorAll('[id]')].map((e) => e.id);
if (new Set(ids).size !== ids.length) bad.push('an id occurs twice');
for (const e of document.querySelectorAll('[aria-labelledby]'))
  if (!document.getElementById(e.getAttribute('aria-labelledby'))) bad.push('aria-labelledby of nothing');
if (!document.documentElement.lang || !document.title) bad.push('no language or title');
for (const e of document.querySelectorAll('.drawing, .wide'))
  if (e.scrollWidth > e.clientWidth + 1 && e.tabIndex < 0)
  bad.push('scrolls, but not by keyboard');
return bad;
"""


@pytest.mark.parametrize("name", PAGES)
def test_everything_has_a_name_and_a_place(browser, index, name):
    browser.get(page(index, name))
    assert browser.execute_script(CHECKS) == []


def test_words_of_figures_do_not_overlap(browser, index):
    overlaps = """
    const bad = [];
    for (const svg of document.querySelectorAll('svg.chart')) {
      const boxes = [...svg.querySelectorAll('text')].map((e) => [e.textContent, e.getBoundingClientRect()]);
      boxes.forEach(([a, r], i) => boxes.slice(0, i).forEach(([b, s]) => {
        const aside = r.left >= s.right - 1 || s.left >= r.right - 1;
        if (!aside && r.top < s.bottom - 2 && s.top < r.bottom - 2) bad.push([a, b]);
      }));
    }
    return bad;
    """
    for name in PAGES:
        browser.get(page(index, name))
        assert browser.execute_script(overlaps) == []


def test_pictures_of_slices_are_shown(browser, index):
    browser.get(page(index, "claims/small--dimension.html"))
    image = browser.find_element("css selector", ".drawing img")
    browser.execute_script("arguments[0].loading = 'eager'; arguments[0].scrollIntoView()", image)
    waits = "const [e, done] = arguments; e.complete ? done() : e.addEventListener('load', () => done())"
    browser.execute_async_script(waits, image)
    assert browser.execute_script("return arguments[0].naturalWidth", image) > 900
    assert "closure Y" in image.get_attribute("alt")


def test_nothing_fails_and_nothing_is_loaded_from_a_network(browser, index):
    browser.get_log("performance"), browser.get_log("browser")
    for name in PAGES:
        browser.get(page(index, name))
    messages = [json.loads(entry["message"])["message"] for entry in browser.get_log("performance")]
    requests = [m["params"]["request"]["url"] for m in messages if m["method"] == "Network.requestWillBeSent"]
    assert len(requests) >= len(PAGES) and all(url.startswith("file:") for url in requests)
    assert [entry for entry in browser.get_log("browser") if entry["level"] == "SEVERE"] == []


def test_the_policy_forbids_the_network_and_scripts_in_the_page(browser, index):
    browser.get(index)
    blocked = browser.execute_async_script("""
    const done = arguments[0], found = [];
    document.addEventListener('securitypolicyviolation', (event) => found.push(event.violatedDirective));
    const image = new Image(); image.src = 'https://example.org/x.png'; document.body.append(image);
    const script = document.createElement('script'); script.textContent = 'window.bad = 1';
    document.body.append(script);
    fetch('https://example.org/').catch(() => 0);
    setTimeout(() => done([found, window.bad ?? 0]), 500);
    """)
    assert {"img-src", "script-src-elem", "connect-src"} <= set(blocked[0]) and blocked[1] == 0
    browser.get_log("browser")


def test_commands_take_one_line_in_a_narrow_window(browser, index):
    browser.set_window_size(1100, 900)
    try:
        browser.get(page(index, "claims/small--dimension.html"))
        heights = browser.execute_script(
            "return [...document.querySelectorAll('td.check')].map(cell => {"
            " const range = document.createRange(); range.selectNodeContents(cell);"
            " return [range.getBoundingClientRect().height, cell.clientWidth]})"
        )
    finally:
        browser.set_window_size(1300, 900)
    assert len(heights) == 6
    assert all(height < 60 and width > 150 for height, width in heights), heights


def test_titles_have_room_on_paper(browser, index):
    """The first column must not give its width to the others, one word a line."""
    metrics = {"width": 720, "height": 1000, "deviceScaleFactor": 1, "mobile": False}
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
    try:
        browser.get(index)
        widths, page_width, window = browser.execute_script(
            "return [[...document.querySelectorAll('#claim-table tbody th')].map(e => e.clientWidth),"
            " document.documentElement.scrollWidth, innerWidth]"
        )
    finally:
        browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})
        browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
    assert len(widths) == 3 and min(widths) > 130 and page_width <= window


def test_pages_without_scripts_show_everything(browser, index):
    browser.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": True})
    try:
        browser.get(index)
        rows = browser.find_elements("css selector", "#claim-table tbody tr")
        assert len(rows) == 3 and all(row.is_displayed() for row in rows)
    finally:
        browser.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": False})


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="needs pdflatex")
def test_the_pdf_is_shown_in_the_page(browser, small_run, tmp_path):
    folder = Path(shutil.copytree(small_run, tmp_path / "out"))
    assert command(["report", str(folder), "--pdf", "--no-slices"]) == 0
    browser.get((folder / "report/claims/small--degrees.html").as_uri())
    browser.get_log("browser")
    browser.find_element("css selector", "details summary").click()
    viewer = browser.find_element("css selector", "object.pdf")
    WebDriverWait(browser, 10).until(lambda _: viewer.is_displayed() and viewer.size["height"] > 300)
    assert viewer.get_attribute("data").endswith("degrees.pdf")
    assert [entry for entry in browser.get_log("browser") if entry["level"] == "SEVERE"] == []
