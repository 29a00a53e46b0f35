// Makes an element equal to a newer version of itself, touching only what differs: focus, selection, scroll,
// open <details> and half-typed fields stay. Returns the elements whose text or state changed.

const isKept = (from, to) =>
    (from.localName === "time" && from.dateTime === to.dateTime && from.dataset.moment === to.dataset.moment) ||
    from.name === "csrfmiddlewaretoken";

const isSame = (from, to) => from.nodeType === to.nodeType && from.nodeName === to.nodeName && (from.id || "") === (to.id || "");

function copyAttributes(from, to) {
    let differs = false;
    const stays = (name) => name === "open" && (from.localName === "details" || from.localName === "dialog");
    for (const { name, value } of to.attributes) {
        if (stays(name) || from.getAttribute(name) === value) continue;
        from.setAttribute(name, value);
        differs = true;
    }
    for (const { name } of [...from.attributes]) {
        if (to.hasAttribute(name) || stays(name)) continue;
        if (name === "class") from.removeAttribute(name);
        else if (!name.startsWith("data-utc")) from.removeAttribute(name);
    }
    return differs;
}

function findMatch(parent, from, to) {
    if (from && isSame(from, to)) return from;
    if (to.id) return [...parent.children].find((child) => child.id === to.id) ?? null;
    return null;
}

function copyChildren(from, to, changed) {
    let current = from.firstChild;
    let differs = false;
    for (const wanted of [...to.childNodes]) {
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
        if (match.nodeType === Node.ELEMENT_NODE) copy(match, wanted, changed);
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

function copy(from, to, changed) {
    if (isKept(from, to)) return;
    const attributes = copyAttributes(from, to);
    const text = copyChildren(from, to, changed);
    if (attributes || text) changed.add(from);
}

export function morph(from, to) {
    const changed = new Set();
    copy(from, to, changed);
    return changed;
}
