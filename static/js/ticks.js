// Counts the ticked rows beside the bulk form, and offers one box that ticks them all.
const form = document.querySelector("[data-bulk]");
const told = document.querySelector("[data-ticked]");

const boxes = () => [...document.querySelectorAll('input[type="checkbox"][form="bulk"][name="job"]')];

function tell() {
    const all = boxes();
    const ticked = all.filter((box) => box.checked).length;
    told.textContent = ticked ? `${ticked} ticked` : "";
    const every = document.querySelector("[data-tick-all]");
    if (every) {
        every.checked = ticked > 0 && ticked === all.length;
        every.indeterminate = ticked > 0 && ticked < all.length;
    }
}

function addTickAll() {
    const head = document.querySelector("#jobs-list thead th");
    if (!head || head.querySelector("[data-tick-all]")) return;
    const every = document.createElement("input");
    every.type = "checkbox";
    every.dataset.tickAll = "";
    every.setAttribute("aria-label", "Tick every job shown");
    head.replaceChildren(every);
}

if (form && told) {
    document.addEventListener("change", (event) => {
        if (event.target.matches("[data-tick-all]")) for (const box of boxes()) box.checked = event.target.checked;
        tell();
    });
    document.addEventListener("jobctrl:swapped", () => {
        addTickAll();
        tell();
    });
    addTickAll();
    tell();
}
