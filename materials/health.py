"""Materials' doctor checks."""

from materials.chromium import ChromiumMissing, find_chromium, find_cjk_font
from operations.checkup import Finding, fail, health_check, ok, warn


@health_check("chromium")
def check_chromium() -> Finding:
    try:
        return ok(str(find_chromium()))
    except ChromiumMissing as error:
        return fail("no Chromium was found, so no PDF can be made", str(error))


@health_check("fonts")
def check_fonts() -> Finding:
    if find_cjk_font():
        return ok("Chinese, Japanese and Korean text can be printed")
    return warn(
        "no font for Chinese, Japanese and Korean text", "Run: apt-get install fonts-noto-cjk (or your system's like)"
    )
