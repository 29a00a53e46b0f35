// Before Django's own theme script: pages and admin keep one choice, but Django calls the system's theme "auto".
try {
    if (localStorage.getItem("theme") === "system") localStorage.setItem("theme", "auto");
} catch {
    // A browser without storage follows the system.
}
