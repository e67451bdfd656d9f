// The files of the page. They are made from page/ when the plugin is bundled (lab/images/page.ts) and are part of it, so that
// nothing is read from a disk.
import { Refusal } from "../place/refusal.ts";

export interface PageTexts {
  readonly html: string;
  readonly style: string;
  readonly script: string;
  readonly icon: string;
}

/** esbuild puts it here. */
declare const dashboardPage: PageTexts | undefined;

export function pageTexts(): PageTexts {
  if (typeof dashboardPage === "undefined")
    throw new Refusal("The page is part of the built plugin: run `make plugin`, then `dist/kubectl-etcd dashboard`.");
  return dashboardPage;
}
