// Says how old a page is where it cannot be kept true: its connection is lost, a part of it cannot be fetched, or a
// fact has outlived the time for which it may be shown.
const clock = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit", second: "2-digit", hourCycle: "h23" });
const BUSY_AFTER_MS = 1000;
const EXPIRY_MS = 1000;

const failed = new Set(); // regions whose last fetch failed
const busy = new Set();
const deadlines = new Map();
let isLost = false;
let isSignedOut = false;
let goodAt = Date.now(); // when the page was last known to be true

const note = () => document.querySelector("[data-stale-note]");

function sayWhy() {
    if (isSignedOut) return "You are signed out. Load the page again to sign in; what you see is of";
    if (isLost) return "The connection is lost. What you see may be out of date; it is of";
    return "A part of this page could not be updated. What is drawn in grey is of";
}

function show() {
    const all = [...document.querySelectorAll("[data-region][data-fragment]")];
    for (const element of all) element.classList.toggle("is-stale", isLost || isSignedOut || failed.has(element));
    const line = note();
    if (!line) return;
    const isNeeded = isLost || isSignedOut || failed.size > 0;
    if (isNeeded && line.hidden) {
        const at = new Date(goodAt);
        const time = line.querySelector("[data-stale-time]");
        time.dateTime = at.toISOString();
        time.textContent = clock.format(at);
    }
    const text = line.querySelector("[data-stale-text]");
    line.hidden = !isNeeded;
    if (isNeeded && text.textContent !== sayWhy()) text.textContent = sayWhy();
}

export function noteGood() {
    if (!isLost && !isSignedOut && !failed.size) goodAt = Date.now();
}

export function noteConnection(lost, signedOut = false) {
    noteGood();
    isLost = lost && !signedOut;
    isSignedOut = signedOut;
    show();
}

export function noteFetched(element, isFetched) {
    if (isFetched) failed.delete(element);
    else failed.add(element);
    for (const other of failed) if (!other.isConnected) failed.delete(other);
    noteGood();
    show();
}

export const listFailed = () => [...failed].filter((element) => element.isConnected);

// A region that takes long says so to a screen reader and under the pointer; call what it returns when it is over.
export function noteAsked(element) {
    const timer = setTimeout(() => {
        busy.add(element);
        element.setAttribute("aria-busy", "true");
        document.body.classList.add("is-asking");
    }, BUSY_AFTER_MS);
    return () => {
        clearTimeout(timer);
        busy.delete(element);
        element.removeAttribute("aria-busy");
        document.body.classList.toggle("is-asking", busy.size > 0);
    };
}

function arm(root) {
    for (const fact of deadlines.keys()) if (!fact.isConnected) deadlines.delete(fact);
    for (const fact of root.querySelectorAll("[data-fresh-seconds]")) {
        deadlines.set(fact, performance.now() + Number(fact.dataset.freshSeconds) * 1000);
    }
}

function expire() {
    for (const [fact, deadline] of deadlines) {
        if (!fact.isConnected || !fact.dataset.freshSeconds) deadlines.delete(fact);
        else if (performance.now() >= deadline) {
            deadlines.delete(fact);
            fact.querySelector("[data-fact]").textContent = fact.dataset.expired;
            fact.querySelector(".dot").className = "dot unknown";
            fact.title = "This page has heard nothing of it for too long.";
            document.dispatchEvent(new CustomEvent("jobctrl:expired", { detail: fact.closest("[data-region]") }));
        }
    }
}

arm(document);
document.addEventListener("jobctrl:swapped", (event) => arm(event.target));
document.addEventListener("visibilitychange", expire);
window.addEventListener("pageshow", expire);
setInterval(expire, EXPIRY_MS);
