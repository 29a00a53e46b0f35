// Makes an element equal to a newer version of itself, touching only what differs: focus, selection, scroll,
// open <details> and half-typed fields stay. Returns the elements whose text or state changed.

const isKept = (from, to) =>
    (from.localName === "time" && from.dateTime === to.dateTime && from.dataset.moment === to.dataset.moment) ||
    from.name === "csrfmiddlewaretoken";

const isSame = (from, to) => from.nodeType === to.nodeType && from.nodeName === to.nodeName && (from.id || "") === (to.id || "");

// Classes that scripts set; the server knows nothing of them.
const OWN_CLASSES = ["is-active", "changed", "is-stale"];

function joinClasses(from, wanted) {
    return [wanted, ...OWN_CLASSES.filter((name) => from.classList.contains(name))].filter(Boolean).join(" ");
}

function copyAttributes(from, to) {
    let differs = false;
    const classes = joinClasses(from, to.getAttribute("class") ?? "");
    if (classes !== (from.getAttribute("class") ?? "")) {
        from.setAttribute("class", classes);
        differs = true;
    }
    const stays = (name) => name === "open" && (from.localName === "details" || from.localName === "dialog");
    for (const { name, value } of to.attributes) {
        if (name === "class" || stays(name) || from.getAttribute(name) === value) continue;
        from.setAttribute(name, value);
        differs = true;
    }
    for (const { name } of [...from.attributes]) {
        if (name !== "class" && !to.hasAttribute(name) && !stays(name)) from.removeAttribute(name);
    }
    return differs;
}

function findMatch(parent, from, to) {
    if (from && isSame(from, to)) return from;
    if (to.id) return [...parent.children].find((child) => child.id === to.id) ?? null;
    return null;
}

const isBlank = (node) => node.nodeType === Node.TEXT_NODE && !node.textContent.trim();

function copyChildren(from, to, changed, keep) {
    let current = from.firstChild;
    let differs = false;
    const named = new Set([...to.children].map((child) => child.id).filter(Boolean));
    const isGone = (node) => node.id && !named.has(node.id);
    for (const wanted of [...to.childNodes]) {
        // What is gone goes first: the entries after it then stand where they are wanted and need no moving.
        while (current && (isGone(current) || (wanted.id && isBlank(current)))) {
            const next = current.nextSibling;
            differs ||= !isBlank(current);
            current.remove();
            current = next;
        }
        const match = findMatch(from, current, wanted);
        if (!match) {
            const added = document.importNode(wanted, true);
            from.insertBefore(added, current);
            if (added.nodeType === Node.ELEMENT_NODE) changed.add(added);
            else if (added.textContent.trim()) differs = true;
            continue;
        }
        if (match !== current) from.insertBefore(match, current);
        else current = current.nextSibling;
        if (match.nodeType === Node.ELEMENT_NODE) copy(match, wanted, changed, keep);
        else if (match.textContent !== wanted.textContent) {
            differs ||= match.textContent.trim() !== wanted.textContent.trim();
            match.textContent = wanted.textContent;
        }
    }
    while (current) {
        const next = current.nextSibling;
        differs ||= Boolean(current.textContent.trim());
        current.remove();
        current = next;
    }
    return differs;
}

function copy(from, to, changed, keep) {
    if (from === keep || isKept(from, to)) return;
    const attributes = copyAttributes(from, to);
    const text = copyChildren(from, to, changed, keep);
    if (attributes || text) changed.add(from);
}

export function morph(from, to, keep = null) {
    const changed = new Set();
    copy(from, to, changed, keep);
    return changed;
}

// What `part` of `from` becomes in `to`, or null when it would go or be moved by what stands before it.
export function findCounterpart(from, to, part) {
    const chain = [];
    for (let node = part; node !== from; node = node.parentElement) chain.unshift(node);
    let here = from;
    let there = to;
    for (const node of chain) {
        const before = [...here.children];
        const wanted = [...there.children];
        const at = before.indexOf(node);
        if (before.slice(0, at + 1).some((child, index) => !wanted[index] || !isSame(child, wanted[index]))) return null;
        here = node;
        there = wanted[at];
    }
    return there;
}
