// Loaded in the head without defer, so that the first paint already has the right theme.
(() => {
    const root = document.documentElement;
    const system = window.matchMedia("(prefers-color-scheme: dark)");
    const order = ["system", "light", "dark"];
    const words = { system: "auto", light: "light", dark: "dark" };
    const titles = { system: "as your system has it", light: "light", dark: "dark" };
    const read = () => {
        try {
            const stored = localStorage.getItem("theme");
            return order.includes(stored) ? stored : "system";
        } catch {
            return "system";
        }
    };
    const apply = (choice) => {
        root.dataset.theme = choice === "system" ? (system.matches ? "dark" : "light") : choice;
    };
    let choice = read();
    apply(choice);
    system.addEventListener("change", () => apply(choice));
    window.addEventListener("storage", (event) => {
        if (event.key === "theme") apply((choice = read()));
    });

    document.addEventListener("DOMContentLoaded", () => {
        for (const button of document.querySelectorAll("[data-theme-switch]")) {
            const label = () => {
                button.querySelector("[data-theme-word]").textContent = words[choice];
                button.title = `Theme: ${titles[choice]}. Click to change.`;
            };
            button.hidden = false;
            label();
            button.addEventListener("click", () => {
                choice = order[(order.indexOf(choice) + 1) % order.length];
                try {
                    localStorage.setItem("theme", choice);
                } catch {
                    // A browser without storage keeps the choice for this page only.
                }
                apply(choice);
                label();
            });
        }
    });
})();
