// Asks once before a destructive form is sent. Without scripts the server answers with a page that asks the same.
const dialog = document.getElementById("confirm");

document.addEventListener("submit", (event) => {
    const form = event.target;
    const consequence = form.dataset.confirm;
    if (!dialog || consequence === undefined || form.elements.confirmed) return;
    event.preventDefault();
    const button = event.submitter ?? form.querySelector("[type='submit'], button:not([type])");
    dialog.querySelector("[data-confirm-title]").textContent = form.dataset.confirmTitle ?? `${button?.textContent.trim() ?? "Go on"}?`;
    dialog.querySelector("[data-confirm-text]").textContent = consequence;
    dialog.querySelector("[value='yes']").textContent = button?.textContent.trim() || "Go on";
    dialog.returnValue = "";
    dialog.addEventListener(
        "close",
        () => {
            if (dialog.returnValue !== "yes") {
                button?.focus();
                return;
            }
            const field = document.createElement("input");
            field.type = "hidden";
            field.name = "confirmed";
            field.value = "yes";
            form.append(field);
            form.requestSubmit(button?.form === form ? button : null);
        },
        { once: true },
    );
    dialog.showModal();
});
