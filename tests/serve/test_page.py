"""The page at /, as a browser shows it."""

from __future__ import annotations

import os

import pytest
from tests.serve.browser import CHROMIUM, Browser
from tests.serve.serving import serving
from tests.serve.stream import opened

from onkel.serve.one_model import OneModel

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(os.name != "posix", reason="a journal needs the locks of POSIX"),
    pytest.mark.skipif(CHROMIUM is None, reason="no Chromium is installed"),
]


def test_the_page_shows_the_model_live(tmp_path):
    models = OneModel(opened(tmp_path, "pa", acknowledge=True))
    rows = [{"id": f"<b>{k}</b>", "a": k % 7, "place": f"p{k % 3}", "y": k % 7} for k in range(60)]
    with serving(models) as (service, client), Browser() as browser:
        browser.open(f"http://127.0.0.1:{service.port}/", 1200, 900)
        browser.wait("document.getElementById('state').textContent === 'live'")
        assert "No label has been learned yet" in browser.ask("document.body.innerText")
        client.post("/predict", {"id": "first", "a": 1.0})
        browser.wait("document.getElementById('tiles').innerText.includes('waits for its label')")
        # a number without an interval has no probability
        assert "probability" not in browser.ask("document.body.innerText")
        client.post("/label", {"id": "first", "y": 1.0})
        browser.wait("document.getElementById('tiles').innerText.includes('1\\nlabel learned')")
        for part in (rows[:30], rows[30:]):
            client.post("/predict-then-learn", part)
            n = 31 if part[0] is rows[0] else 61
            browser.wait(f"document.getElementById('tiles').innerText.includes('{n}\\nlabels')")
        browser.wait("document.querySelector('path.curve') !== null")
        text = browser.ask("document.body.innerText")
        for expected in ("RMSE", "inside their intervals", "skill over a baseline", "3 categories",
                         "<b>59</b>"):  # fmt: skip
            assert expected in text
        # no part of a row becomes a part of the page
        assert browser.ask("document.querySelectorAll('#last td b').length") == 0
        for width in (1200, 390):
            browser.open(f"http://127.0.0.1:{service.port}/", width, 900)
            browser.wait("document.querySelector('#last td') !== null")
            assert browser.ask("document.documentElement.scrollWidth") <= width
        assert browser.errors == []
    assert service.models.durable.live.model.n_rows == 61
