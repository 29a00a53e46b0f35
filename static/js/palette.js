// Ctrl-K: go to a page, a job or a run by typing a part of its name.
const dialog = document.getElementById("palette");
const input = dialog?.querySelector("input");
const list = dialog?.querySelector("[role='listbox']");
const GATHER_MS = 120;
const LOADING_MS = 250;
const ASK_MS = 10000;
let timer = 0;
let asked = 0;

const pages = () =>
    [...document.querySelectorAll(".nav a")].map((link) => ({ label: link.textContent.trim(), url: link.getAttribute("href"), detail: "" }));

function option(item) {
    const link = document.createElement("a");
    link.href = item.url;
    link.setAttribute("role", "option");
    link.tabIndex = -1;
    link.id = `palette-${list.querySelectorAll("[role='option']").length}`;
    const label = document.createElement("span");
    label.textContent = item.label;
    const detail = document.createElement("span");
    detail.className = "detail";
    detail.textContent = item.detail;
    link.append(label, detail);
    return link;
}

function say(text) {
    const line = document.createElement("p");
    line.className = "nothing";
    line.textContent = text;
    list.append(line);
    return line;
}

// "loading" and "failed" say why jobs and runs are not among what is shown.
function show(groups, state = "") {
    list.replaceChildren();
    for (const [heading, items] of groups) {
        if (!items.length) continue;
        const title = document.createElement("div");
        title.className = "group";
        title.textContent = heading;
        list.append(title);
        for (const item of items) list.append(option(item));
    }
    list.setAttribute("aria-busy", String(state === "loading"));
    if (state === "loading") say("Searching jobs and runs…");
    else if (state === "failed") {
        const again = document.createElement("button");
        again.type = "button";
        again.className = "link";
        again.textContent = "Try again";
        again.addEventListener("click", () => search().then(() => input.focus()));
        say("Jobs and runs could not be searched. ").append(again);
    } else if (!list.children.length) say("Nothing has that in its name. Try a company or a part of a title.");
    select(0);
}

const options = () => [...list.querySelectorAll("[role='option']")];

function select(index) {
    const all = options();
    all.forEach((item, at) => item.setAttribute("aria-selected", String(at === index)));
    all[index]?.scrollIntoView({ block: "nearest" });
    input.setAttribute("aria-activedescendant", all[index]?.id ?? "");
}

function step(by) {
    const all = options();
    const at = all.findIndex((item) => item.getAttribute("aria-selected") === "true");
    if (all.length) select((at + by + all.length) % all.length);
}

async function search() {
    const words = input.value.trim();
    const mine = ++asked;
    const found = pages().filter((page) => page.label.toLowerCase().includes(words.toLowerCase()));
    if (!words) {
        show([["Pages", found]]);
        return;
    }
    const loading = setTimeout(() => mine === asked && show([["Pages", found]], "loading"), LOADING_MS);
    try {
        const url = `${document.body.dataset.palette}?q=${encodeURIComponent(words)}`;
        const response = await fetch(url, { credentials: "same-origin", signal: AbortSignal.timeout(ASK_MS) });
        if (!response.ok || response.redirected) throw new Error(`answer ${response.status}`);
        const body = await response.json();
        if (mine === asked) show([["Pages", found], ["Jobs", body.jobs], ["Runs", body.runs]]);
    } catch {
        if (mine === asked) show([["Pages", found]], "failed");
    } finally {
        clearTimeout(loading);
    }
}

if (dialog) {
    document.addEventListener("keydown", (event) => {
        if ((event.ctrlKey || event.metaKey) && !event.altKey && !event.shiftKey && event.key.toLowerCase() === "k") {
            event.preventDefault();
            if (dialog.open) dialog.close();
            else if (!document.querySelector("dialog[open]")) {
                input.value = "";
                dialog.showModal();
                search();
            }
        }
    });
    input.addEventListener("input", () => {
        clearTimeout(timer);
        timer = setTimeout(search, GATHER_MS);
    });
    input.addEventListener("keydown", (event) => {
        if (event.key === "ArrowDown" || event.key === "ArrowUp") {
            event.preventDefault();
            step(event.key === "ArrowDown" ? 1 : -1);
        } else if (event.key === "Enter" && !event.isComposing) {
            event.preventDefault();
            list.querySelector("[aria-selected='true']")?.click();
        }
    });
    dialog.addEventListener("click", (event) => {
        if (event.target === dialog) dialog.close();
    });
}
