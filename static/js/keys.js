// Single-key shortcuts. Nothing fires while someone types, or with a modifier held.
const JUMP_MS = 1200;
let jumpUntil = 0;

const isTyping = (target) =>
    target instanceof HTMLElement && (target.isContentEditable || target.matches("input:not([type='checkbox'], [type='radio']), textarea, select"));

function rows() {
    return [...document.querySelectorAll("[data-list] [data-row]")].filter((row) => row.offsetParent !== null || row.getClientRects().length);
}

const linkOf = (row) => row.querySelector("a[data-row-link]") ?? row.querySelector("a[href]");

function move(step) {
    const all = rows();
    if (!all.length) return;
    const from = all.findIndex((row) => row.classList.contains("is-active"));
    const to = from < 0 ? (step > 0 ? 0 : all.length - 1) : Math.min(Math.max(from + step, 0), all.length - 1);
    for (const row of all) row.classList.toggle("is-active", row === all[to]);
    linkOf(all[to])?.focus({ preventScroll: true });
    all[to].scrollIntoView({ block: "nearest" });
}

function openActive() {
    const row = document.querySelector("[data-row].is-active");
    if (!row || document.activeElement?.closest("a, button, summary")) return false;
    linkOf(row)?.click();
    return true;
}

function tick() {
    const box = document.querySelector("[data-row].is-active input[type='checkbox']");
    if (!box) return false;
    box.checked = !box.checked;
    box.dispatchEvent(new Event("change", { bubbles: true }));
    return true;
}

function jump(key) {
    const link = document.querySelector(`a[data-jump="${CSS.escape(key)}"]`);
    link?.click();
    return Boolean(link);
}

document.addEventListener("keydown", (event) => {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
    if (isTyping(event.target)) {
        if (event.key === "Escape" && event.target.id === "search") event.target.blur();
        return;
    }
    if (document.querySelector("dialog[open]")) return;
    let isUsed = true;
    if (jumpUntil > Date.now()) {
        jumpUntil = 0;
        isUsed = jump(event.key);
    } else if (event.key === "g") jumpUntil = Date.now() + JUMP_MS;
    else if (event.key === "/") {
        const search = document.getElementById("search");
        search?.focus();
        search?.select();
    } else if (event.key === "j") move(1);
    else if (event.key === "k") move(-1);
    else if (event.key === "x") isUsed = tick();
    else if (event.key === "Enter") isUsed = openActive();
    else if (event.key === "?") document.getElementById("keys")?.showModal();
    else isUsed = false;
    if (isUsed) event.preventDefault();
});

document.addEventListener("focusin", (event) => {
    const focused = event.target.closest?.("[data-list] [data-row]");
    for (const row of document.querySelectorAll("[data-row].is-active")) {
        if (focused && row !== focused) row.classList.remove("is-active");
    }
});

for (const button of document.querySelectorAll("[data-opens]")) {
    button.hidden = false;
    button.addEventListener("click", () => document.getElementById(button.dataset.opens)?.showModal());
}
