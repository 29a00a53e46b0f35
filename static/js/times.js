// Shows every <time data-moment> in the reader's zone and keeps "5 min ago" true.
const clock = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit", second: "2-digit", hourCycle: "h23" });
const minute = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit", hourCycle: "h23" });
const day = new Intl.DateTimeFormat(undefined, { year: "numeric", month: "short", day: "numeric" });
const full = new Intl.DateTimeFormat(undefined, {
    year: "numeric", month: "short", day: "numeric", hour: "2-digit", minute: "2-digit", hourCycle: "h23",
});

export function distance(at, now) {
    const gap = now - at;
    const size = Math.abs(gap) / 1000;
    if (size < 45) return gap >= 0 ? "just now" : "in a moment";
    if (size >= 30 * 86400) return day.format(at);
    const minutes = Math.max(Math.round(size / 60), 1);
    let words = `${Math.floor(minutes / 1440)} d`;
    if (minutes < 60) words = `${minutes} min`;
    else if (minutes < 1440) words = `${Math.floor(minutes / 60)} h`;
    return gap >= 0 ? `${words} ago` : `in ${words}`;
}

function show(element, now) {
    const at = new Date(element.dateTime);
    if (Number.isNaN(at.getTime())) return;
    const style = element.dataset.moment;
    let text = distance(at, now);
    if (style === "minute") text = (Math.abs(now - at) < 20 * 3600 * 1000 ? minute : full).format(at);
    else if (style === "clock") text = clock.format(at);
    else if (style === "date") text = day.format(at);
    else if (style === "full") text = full.format(at);
    if (element.textContent !== text) element.textContent = text;
    if (!element.dataset.utc) {
        element.dataset.utc = element.title;
        element.title = `${full.format(at)} here, ${element.title}`;
    }
}

export function localise(root = document) {
    const now = new Date();
    for (const element of root.querySelectorAll("time[data-moment]")) show(element, now);
}

localise();
document.addEventListener("jobctrl:swapped", (event) => localise(event.target));
setInterval(() => {
    if (!document.hidden) localise();
}, 20000);
document.addEventListener("visibilitychange", () => {
    if (!document.hidden) localise();
});
