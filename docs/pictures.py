"""Make the pictures of the dashboard: ``make pictures`` runs the demo, and looks at it."""

from __future__ import annotations

import shutil
import subprocess
import sys
import time
from pathlib import Path

from playwright.sync_api import Browser, sync_playwright

HERE = Path(__file__).parent
SECONDS = 150


def main() -> None:
    """Run the demo, wait until there is something to see, and draw it."""
    command = [sys.executable, "-m", "evenhand", "demo", "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as demo:
        assert demo.stdout is not None
        address = demo.stdout.readline().split("open ")[1].split("/ and")[0]
        time.sleep(SECONDS)
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(
                executable_path=shutil.which("chromium"), args=["--no-sandbox"]
            )
            draw(browser, f"{address}/#/bandits/movie-shelf", HERE / "dashboard.png")
            browser.close()
        demo.terminate()


def draw(browser: Browser, address: str, path: Path) -> None:
    """Draw one page, as far as it goes on a tall screen, with a floor that has been moved."""
    page = browser.new_page(viewport={"width": 1_280, "height": 1_460})
    page.goto(address)
    page.locator(".decisions li").nth(49).wait_for(state="attached")
    page.get_by_label("Arm", exact=True).select_option("Documentary")
    page.get_by_label("Floor", exact=True).fill("40")
    page.locator(".changes li").first.wait_for()
    page.get_by_label("Floor", exact=True).blur()
    page.wait_for_timeout(1_500)
    page.screenshot(path=path)


if __name__ == "__main__":
    main()
