// Swagger UI has a dark theme of its own, behind a class: the class follows the theme of the pages.
(() => {
    const root = document.documentElement;
    const follow = () => root.classList.toggle("dark-mode", root.dataset.theme === "dark");
    new MutationObserver(follow).observe(root, { attributeFilter: ["data-theme"] });
    follow();
})();

// Its field for a body has no name for a screen reader.
document.addEventListener("DOMContentLoaded", () => {
    const name = () => {
        for (const field of document.querySelectorAll("textarea.body-param__text:not([aria-label])")) {
            field.setAttribute("aria-label", "Body of the request");
        }
    };
    new MutationObserver(name).observe(document.getElementById("swagger-ui"), { childList: true, subtree: true });
});
