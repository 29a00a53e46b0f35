// Asks once before a destructive form is sent. Without scripts the server answers with a page that asks the same.
// data-confirm stands on the button, where a form has several, or on the form.
const dialog = document.getElementById("confirm");

document.addEventListener("submit", (event) => {
    const form = event.target;
    const button = event.submitter ?? form.querySelector("[type='submit'], button:not([type])");
    const asking = [button, form].find((element) => element?.dataset.confirm);
    if (!dialog || !asking || form.elements.confirmed) return;
    event.preventDefault();
    const { confirm, confirmTitle, confirmLabel } = asking.dataset;
    const label = confirmLabel ?? (button?.textContent.trim() || "Go on");
    dialog.querySelector("[data-confirm-title]").textContent = confirmTitle ?? `${label}?`;
    dialog.querySelector("[data-confirm-text]").textContent = confirm;
    dialog.querySelector("[value='yes']").textContent = label;
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
