// A command that can be copied. Its button shows what became of the last copy until another command is copied: drawn from
// here, so that news that redraw the page do not take it back.
import { h } from "./dom.ts";

let last: { readonly command: string; readonly became: "Copied" | "Select it" } | undefined;

const labelOf = (command: string): string => (last?.command === command ? last.became : "Copy");

export function copyable(command: string, what: string): HTMLElement {
  return h(
    "div",
    { class: "command" },
    h("code", { tabindex: "0", "aria-label": `Command: ${what}` }, command),
    h(
      "button",
      { type: "button", class: "copy", "data-copy": command, "aria-label": `Copy the command: ${what}` },
      labelOf(command),
    ),
  );
}

/** Hears all clicks: buttons come and go. `say` reaches those who do not see the page. */
export function hearCopies(say: (sentence: string) => void): void {
  document.addEventListener("click", ({ target }) => {
    const command = (target instanceof Element ? target.closest("[data-copy]") : null)?.getAttribute("data-copy");
    if (command === null || command === undefined) return;
    const note = (became: "Copied" | "Select it", sentence: string): void => {
      last = { command, became };
      for (const button of document.querySelectorAll("[data-copy]"))
        button.textContent = labelOf(button.getAttribute("data-copy") ?? "");
      say(sentence);
    };
    navigator.clipboard.writeText(command).then(
      () => note("Copied", "Copied."),
      () => note("Select it", "The browser does not allow the page to copy: select the command."),
    );
  });
}
