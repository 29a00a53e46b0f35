// A list that is wider than its window scrolls on its own; the keyboard must reach it, even where no cell is a link.
document.addEventListener("DOMContentLoaded", () => {
    for (const list of document.querySelectorAll(".results")) {
        list.tabIndex = 0;
        list.setAttribute("role", "region");
        list.setAttribute("aria-label", "Rows");
    }
});
