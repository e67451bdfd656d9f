// `dashboard`: a page in the browser that shows all clusters, or one, live.
import type { Call, Command } from "../command.ts";
import { Feed } from "../dashboard/feed.ts";
import { leadingPage, openerOf, openFile } from "../dashboard/open-browser.ts";
import { pageTexts } from "../dashboard/page-texts.ts";
import { type Dashboard, serveDashboard } from "../dashboard/server.ts";
import { UsageError } from "../line/usage-error.ts";
import { sameFlags } from "../place/kubectl.ts";
import { watchAll } from "../permissions.ts";
import { structured } from "../screen/structured.ts";

export const dashboardCommand: Command = {
  name: "dashboard",
  what: "Show all clusters, or one, live in the browser.",
  details:
    "Serves a page on 127.0.0.1 and prints its address, which works once, in one browser. The page reads with your own\npermissions, changes nothing, and shows commands to copy. Nothing is installed in the cluster. Ctrl-C stops it. See docs/dashboard.md.",
  arguments: [{ name: "NAME", is: "optional", of: "cluster" }],
  flags: [
    { name: "all-namespaces", short: "A", what: "The clusters of all namespaces." },
    { name: "port", value: "PORT", what: "The port on 127.0.0.1. Default: any free port." },
    { name: "no-open", what: "Only print the address." },
  ],
  examples: [
    { what: "All clusters of the namespace", line: "dashboard" },
    { what: "All clusters everywhere", line: "dashboard -A" },
    { what: "One cluster, on a machine without a screen", line: "dashboard my-etcd --no-open --port=8080" },
  ],
  permissions: watchAll,
  async run(call) {
    const { flags, now, arguments: words } = call;
    const port = portOf(flags.text("port"));
    const page = pageTexts();
    const reach = await call.reach();
    const everywhere = flags.has("all-namespaces");
    const feed = new Feed({
      reach,
      ...(!everywhere && { namespace: reach.namespace }),
      flags: sameFlags(flags),
      now,
    });
    using dashboard = await serveDashboard({ feed, page, port });
    const url = urlOf(dashboard, words[0] === undefined ? undefined : `${reach.namespace}/${words[0]}`);
    using _ = show(call, url);
    await ended(call.signal);
    return 0;
  },
};

function portOf(text: string | undefined): number {
  const port = Number(text ?? "0");
  if (!Number.isInteger(port) || port < 0 || port > 65_535 || text === "")
    throw new UsageError("--port is a number up to 65535, as in --port=8080.");
  return port;
}

/** The part after # is not sent to any server, and the page removes it. */
function urlOf({ origin, token }: Pick<Dashboard, "origin" | "token">, cluster?: string): string {
  return `${origin}#token=${token}${cluster === undefined ? "" : `&cluster=${cluster}`}`;
}

function show({ screen, flags, output }: Call, url: string): Disposable {
  screen.print(output === "text" ? url : structured(output, { url }));
  screen.note("This address works once. Ctrl-C stops the dashboard.");
  const opener = screen.isTerminal && !flags.has("no-open") ? openerOf(process.platform, process.env) : undefined;
  if (opener === undefined) return { [Symbol.dispose]: () => undefined };
  const leading = leadingPage(url);
  openFile(opener, leading.file);
  return leading;
}

const ended = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });
