// On narrow screens the navigation is a strip that scrolls: bring the current page into it.
const strip = document.querySelector(".nav");
const current = strip?.querySelector("[aria-current='page']");
if (strip && current && strip.scrollWidth > strip.clientWidth) {
    strip.scrollLeft = current.offsetLeft - (strip.clientWidth - current.offsetWidth) / 2;
}
