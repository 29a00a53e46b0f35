"""``python -m tests.browser.pictures FOLDER [NAME ...]``: pictures of every page, wide and narrow, light and dark, to look at.

It starts a product of its own with the sample boards and a board of odd postings; with names, only pages that begin with
one of them are taken. Each picture is FOLDER/NAME-WIDTH-THEME.png.
"""

import os
import sys
import tempfile
from pathlib import Path

import django
from playwright.sync_api import Page, sync_playwright

from tests.browser import places
from tests.browser.conftest import enter
from tests.browser.product import Product, running_product
from tests.browser.sound import AT_REST, NARROW, WIDE

THEMES = ("light", "dark")
LONGEST = 4000  # px of a page: the rest of a long list looks the same


def take_all(product: Product, folder: Path, wanted: list[str]) -> int:
    from materials.chromium import find_chromium

    taken = 0

    def is_wanted(name: str) -> bool:
        return not wanted or any(name.startswith(one) for one in wanted)

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find_chromium(), args=["--no-sandbox"])
        cookies = enter(browser, product)
        page = browser.new_context(base_url=product.url, storage_state=cookies).new_page()  # type: ignore[arg-type]
        for name, path in {**places.list_places(product.workspace), **places.list_admin_places(page, product)}.items():
            if is_wanted(name):
                page.goto(path)
                taken += take(page, folder, name)
        for name, (reach, _) in places.WAYS.items():
            if is_wanted(name):
                reach(page)
                taken += take(page, folder, name)
        stranger = browser.new_context(base_url=product.url).new_page()
        if is_wanted("sign-in"):
            stranger.goto("/sign-in/")
            taken += take(stranger, folder, "sign-in")
        browser.close()
    return taken


def take(page: Page, folder: Path, name: str) -> int:
    """Four pictures of the page that lies open."""
    for theme in THEMES:
        for size in (WIDE, NARROW):
            page.set_viewport_size(size)
            page.emulate_media(color_scheme=theme, reduced_motion="reduce")  # type: ignore[arg-type]
            page.wait_for_function(AT_REST)
            height = min(LONGEST, page.evaluate("() => document.documentElement.scrollHeight"))
            page.screenshot(
                path=folder / f"{name}-{size['width']}-{theme}.png",
                full_page=True,
                clip={"x": 0, "y": 0, "width": size["width"], "height": height},
            )
    return 4


def main() -> None:
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "jobctrl.settings")
    django.setup()
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="pictures-") as home, running_product(Path(home)) as product:
        product.fill()
        print(f"{take_all(product, folder, sys.argv[2:])} pictures in {folder}")


if __name__ == "__main__":
    main()
