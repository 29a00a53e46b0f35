// The bar of what may be done to the ticked jobs: shown while one is ticked, it says how many and asks accordingly.
const form = document.querySelector("[data-bulk]");
const told = document.querySelector("[data-ticked]");

const boxes = () => [...document.querySelectorAll('input[type="checkbox"][form="bulk"][name="job"]')];

function tell() {
    const all = boxes();
    const ticked = all.filter((box) => box.checked).length;
    const isAll = form.elements.scope.value === "all";
    told.textContent = ticked ? `${ticked} ticked` : "";
    form.hidden = !ticked && !isAll;
    const every = document.querySelector("[data-tick-all]");
    if (every) {
        every.checked = ticked > 0 && ticked === all.length;
        every.indeterminate = ticked > 0 && ticked < all.length;
    }
    const action = form.elements.action.selectedOptions[0];
    form.elements.stage.hidden = !action || !("needsStage" in action.dataset);
    if (action?.dataset.consequence) {
        form.dataset.confirm = action.dataset.consequence;
        form.dataset.confirmLabel = action.textContent.trim();
        form.dataset.confirmTitle = `${action.textContent.trim()} ${isAll ? "all jobs that match" : ticked === 1 ? "1 job" : `${ticked} jobs`}?`;
    } else delete form.dataset.confirm;
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
    window.addEventListener("pageshow", tell); // a browser that goes back puts its ticks in again
    addTickAll();
    tell();
}
