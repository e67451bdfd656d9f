// The page: who may see it, which view is open, and what it shows.
import type { Message } from "../messages.ts";
import { clusterPage, verdictInWords } from "./cluster-page.ts";
import { hearCopies } from "./copy.ts";
import { type Child, h, show } from "./dom.ts";
import { clusterLink, fleetPage } from "./fleet-page.ts";
import { live, type LinkState } from "./live.ts";
import { mark } from "./parts.ts";
import { enter } from "./session.ts";

function place(id: string): HTMLElement {
  const found = document.getElementById(id);
  if (found === null) throw new Error(`the page has no #${id}`);
  return found;
}

const [main, trail, link, said] = [place("main"), place("trail"), place("link"), place("said")];

interface Where {
  readonly namespace: string;
  readonly name: string;
}

function whereNow(): Where | undefined {
  const [namespace, name] = location.hash.replace(/^#\/?/, "").split("/");
  return namespace && name ? { namespace, name } : undefined;
}

function showTrail(where: Where | undefined): void {
  document.title = where === undefined ? "Clusters · etcd" : `${where.name} · etcd`;
  const current = { "aria-current": "page" };
  show(
    trail,
    h("a", { href: "#/", ...(where === undefined && current) }, "Clusters"),
    where !== undefined && h("a", { href: clusterLink(where.namespace, where.name), ...current }, where.name),
  );
}

let lastSaid = "";

/** For those who do not see the page: only what changed in the verdict. */
function announce(message: Message): void {
  const text =
    message.t === "cluster"
      ? `${message.view.name}: ${verdictInWords(message.view)}. Quorum: ${message.view.quorum.sentence}.`
      : message.t === "problem"
        ? message.sentence
        : `${message.view.clusters.filter(({ ready }) => ready === "True").length} of ${message.view.clusters.length} clusters ready.`;
  if (text !== lastSaid) said.textContent = text;
  lastSaid = text;
}

/** What was seen last stays, below what is wrong now. */
let lastSeen: Message | undefined;

function pageOf(message: Message): Child[] {
  if (message.t === "problem") return [problem(message.sentence), ...(lastSeen === undefined ? [] : pageOf(lastSeen))];
  lastSeen = message;
  return message.t === "cluster" ? clusterPage(message) : fleetPage(message);
}

const problem = (sentence: string): HTMLElement =>
  h("div", { class: "card problem", role: "alert", "data-key": "problem" }, mark("bad"), h("p", {}, sentence));

const isAbout = (message: Message, { namespace, name }: Where): boolean =>
  message.t === "cluster" && message.view.namespace === namespace && message.view.name === name;

let isNew = true;

function hear(message: Message): void {
  const where = whereNow();
  const isOfHere = message.t === "problem" || (where === undefined ? message.t === "fleet" : isAbout(message, where));
  if (!isOfHere) return;
  show(main, ...pageOf(message));
  main.removeAttribute("aria-busy");
  announce(message);
  link.title = new Date(message.at).toLocaleTimeString();
  // Who went here by keyboard reads on from the heading.
  if (isNew) main.querySelector("h1")?.focus({ preventScroll: true });
  isNew = false;
}

function showLink(state: LinkState): void {
  const words = { connecting: "Connecting", live: "Live", lost: "Not connected: trying again" }[state];
  link.className = `link ${state}`;
  if (link.textContent !== words) link.textContent = words;
}

const news = live(hear, showLink);

function go(): void {
  const where = whereNow();
  isNew = true;
  lastSeen = undefined;
  showTrail(where);
  show(main, h("p", { class: "wait", "data-key": "wait" }, "Reading…"));
  main.setAttribute("aria-busy", "true");
  window.scrollTo(0, 0);
  const query = where && new URLSearchParams({ namespace: where.namespace, name: where.name }).toString();
  news.show(query === undefined ? "" : `?${query}`);
}

hearCopies((sentence) => (said.textContent = sentence));

document.querySelector(".skip")?.addEventListener("click", (event) => {
  event.preventDefault();
  main.focus();
});

const entry = await enter().catch(
  () => ({ t: "out", sentence: "The dashboard does not answer: is the command still running?" }) as const,
);
if (entry.t === "out") {
  showTrail(undefined);
  show(main, problem(entry.sentence));
} else {
  window.addEventListener("hashchange", go);
  go();
}
