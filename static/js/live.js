// Keeps a page true without reloading it. The server says only which regions are stale ("nudge"); the page then
// fetches those fragments and changes what differs, never under the pointer and never inside a selection.
import { listFailed, noteAsked, noteConnection, noteFetched, noteGood } from "./freshness.js";
import { findCounterpart, morph } from "./morph.js";

const GATHER_MS = 120;
const PAUSE_MS = 800; // between two fetches of the same region
const MARK_MS = 1200;
const REGION = "[data-region][data-fragment]";
const UNIT = "[data-row], tr, li, form, button, a, summary, p, h1, h2, h3, dd, figcaption, .chip";
const LOST_AFTER_MS = 4000;
const ASK_MS = 15000; // a page that is asked for longer than that is not coming
const FAILED_AGAIN_MS = 15000;
const canHover = window.matchMedia("(hover: hover)");

const waiting = new Set(); // elements to refetch
const fetching = new Set();
const again = new Set(); // nudged while being fetched
const left = new Map(); // regions up to date but for the part that the pointer was over
const lastAsked = new WeakMap();
const started = Date.now();
let source = null;
let gathering = 0;
let lostTimer = 0;
let wasConnected = false;
let isStreaming = false;
let isRefused = false; // the last fetch found nobody there

const regions = () => [...document.querySelectorAll(REGION)];
const names = (element) => element.dataset.region.split(" ");

// The smallest thing under the pointer that a reader would point at; blank space between things is none.
function findPointedAt(element) {
    if (!canHover.matches || !element.matches(":hover")) return null;
    const deepest = [...element.querySelectorAll(":hover")].at(-1) ?? element;
    const unit = deepest.closest(UNIT);
    return unit && (element.contains(unit) || unit.contains(element)) ? unit : null;
}

function isHeld(element) {
    if (left.get(element)?.matches(":hover")) return true;
    if (findPointedAt(element)?.contains(element)) return true;
    const selection = document.getSelection();
    if (selection && !selection.isCollapsed && selection.containsNode(element, true)) return true;
    const active = document.activeElement;
    return Boolean(active && element.contains(active) && active.matches("select, textarea, input:not([type='checkbox'])"));
}

function gather(delay = GATHER_MS) {
    if (!gathering) gathering = setTimeout(flush, delay);
}

const outer = (element) => element.parentElement?.closest(REGION);

function isCovered(element) {
    for (let above = outer(element); above; above = outer(above)) {
        if (waiting.has(above) && !isHeld(above)) return true;
    }
    return false;
}

function flush() {
    gathering = 0;
    const answers = new Map();
    let isEarly = false;
    for (const element of [...waiting]) {
        if (!element.isConnected || isCovered(element)) waiting.delete(element);
    }
    for (const element of [...waiting]) {
        if (isHeld(element)) continue;
        if (Date.now() - (lastAsked.get(element) ?? 0) < PAUSE_MS) {
            isEarly = true;
            continue;
        }
        waiting.delete(element);
        left.delete(element);
        refresh(element, answers);
    }
    if (isEarly) gather(PAUSE_MS);
}

async function ask(url) {
    const response = await fetch(url, { headers: { "X-Requested-With": "fragment" }, credentials: "same-origin", signal: AbortSignal.timeout(ASK_MS) });
    return { status: response.redirected ? 401 : response.status, text: response.ok ? await response.text() : "" };
}

async function refresh(element, answers) {
    if (fetching.has(element)) {
        again.add(element);
        return;
    }
    fetching.add(element);
    lastAsked.set(element, Date.now());
    const end = noteAsked(element);
    try {
        const url = element.dataset.fragment;
        if (!answers.has(url)) answers.set(url, ask(url));
        const { status, text } = await answers.get(url);
        if (status === 404 || status === 410) element.remove();
        else if (status === 401 || status === 403) {
            showConnection("Signed out", true);
            return;
        } else if (status === 200) swap(element, text);
        noteFetched(element, status < 500 && status !== 429);
        if (isRefused && isStreaming) showConnection("Live", false);
        isRefused = false;
    } catch {
        isRefused = true;
        showConnection("Connection lost", true);
        noteFetched(element, false);
    } finally {
        end();
        fetching.delete(element);
        if (again.delete(element)) {
            waiting.add(element);
            gather();
        }
    }
}

function swap(element, html) {
    const parsed = new DOMParser().parseFromString(wrapRow(html), "text/html");
    const fresh = parsed.getElementById(element.id) ?? parsed.querySelector(`[data-region="${CSS.escape(element.dataset.region)}"]`);
    if (!fresh || !element.isConnected) return;
    const pointedAt = findPointedAt(element);
    const counterpart = pointedAt && element.contains(pointedAt) ? findCounterpart(element, fresh, pointedAt) : null;
    if (isHeld(element) || (pointedAt && !counterpart)) {
        waiting.add(element);
        if (pointedAt) left.set(element, pointedAt);
        return;
    }
    if (counterpart && morph(pointedAt.cloneNode(true), counterpart).size) {
        waiting.add(element);
        left.set(element, pointedAt);
    }
    const top = pointedAt?.getBoundingClientRect().top;
    const focused = document.activeElement;
    const marks = new Set([...morph(element, fresh, pointedAt)].map((node) => node.closest("[data-row]") ?? node.closest("[data-region]") ?? node));
    if (focused?.isConnected && focused !== document.activeElement) focused.focus({ preventScroll: true }); // it was moved
    if (pointedAt) window.scrollBy({ top: pointedAt.getBoundingClientRect().top - top, behavior: "instant" });
    element.dispatchEvent(new CustomEvent("jobctrl:swapped", { bubbles: true }));
    for (const node of marks) mark(node, element);
    if (element.id === "standing" && marks.size) refetchAll(); // it changes what every other part may claim
}

// A bare <tr> is dropped by the parser unless it stands in a table.
function wrapRow(html) {
    return /^\s*<tr[\s>]/i.test(html) ? `<table><tbody>${html}</tbody></table>` : html;
}

function mark(node, region) {
    if (node === region && !node.matches("[data-row]")) return;
    node.classList.add("changed");
    setTimeout(() => node.classList.remove("changed"), MARK_MS);
}

function showConnection(text, isLost) {
    document.body.classList.toggle("is-lost", isLost);
    noteConnection(isLost, text === "Signed out");
    for (const element of document.querySelectorAll("[data-connection-state]")) element.hidden = false;
    for (const element of document.querySelectorAll("[data-connection]")) {
        if (element.textContent !== text) element.textContent = text;
    }
}

function refetchAll() {
    for (const element of regions()) if (!outer(element)) waiting.add(element);
    gather();
}

// What changes without an event (a worker's heartbeat) is asked for from time to time.
function repeat() {
    for (const element of regions()) {
        const seconds = Number(element.dataset.refresh);
        if (!seconds || document.hidden) continue;
        const last = lastAsked.get(element) ?? started;
        if (Date.now() - last >= seconds * 1000) waiting.add(element);
    }
    for (const element of listFailed()) {
        if (Date.now() - (lastAsked.get(element) ?? 0) >= FAILED_AGAIN_MS) waiting.add(element);
    }
    if (waiting.size) gather();
}

function open() {
    if (source) return;
    source = new EventSource(document.body.dataset.live);
    source.addEventListener("open", () => {
        clearTimeout(lostTimer);
        lostTimer = 0;
        wasConnected = isStreaming = true;
        showConnection("Live", false);
        refetchAll();
    });
    source.addEventListener("heartbeat", noteGood);
    source.addEventListener("nudge", (event) => {
        noteGood();
        const stale = new Set(JSON.parse(event.data).regions);
        for (const element of regions()) {
            if (!names(element).some((name) => stale.has(name))) continue;
            waiting.add(element);
            left.delete(element);
        }
        gather();
    });
    source.addEventListener("reset", refetchAll);
    source.addEventListener("error", () => {
        if (isStreaming) noteGood();
        isStreaming = false;
        // A short break heals by itself; only one that lasts is worth a word.
        lostTimer ||= setTimeout(() => showConnection(wasConnected ? "Connection lost" : "Not connected", true), LOST_AFTER_MS);
        if (source && source.readyState === EventSource.CLOSED) {
            close();
            setTimeout(() => document.hidden || open(), 5000);
        }
    });
}

function close() {
    source?.close();
    source = null;
    isStreaming = false;
}

document.addEventListener("jobctrl:expired", (event) => {
    if (event.detail) waiting.add(event.detail);
    gather();
});
document.addEventListener("click", (event) => {
    if (!event.target.closest("[data-try-again]")) return;
    close();
    open();
    refetchAll();
});

setInterval(repeat, 5000);
for (const event of ["pointerout", "focusout"]) {
    document.addEventListener(event, () => waiting.size && gather(), { passive: true });
}
document.addEventListener("selectionchange", () => waiting.size && gather());
document.addEventListener("visibilitychange", () => (document.hidden ? close() : open()));
window.addEventListener("pagehide", close);
window.addEventListener("pageshow", () => document.hidden || open());
if (!document.hidden) open();
