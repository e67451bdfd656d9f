// The pages that are made from code of the whole tree, and from figures; those of src/api and observability are made there.
import { textOf } from "../pages.ts";
import { conditionsPage } from "./conditions.ts";
import { flagsPage } from "./flags.ts";
import { withManifests } from "./manifests.ts";
import { recoveryTimesPage } from "./recovery-times.ts";

export interface GeneratedPage {
  /** From the root of the tree. */
  readonly path: string;
  readonly render: () => string;
}

export const generatedPages: readonly GeneratedPage[] = [
  { path: "docs/reference/conditions.md", render: conditionsPage },
  { path: "docs/reference/flags.md", render: flagsPage },
  { path: "docs/recovery-times.md", render: recoveryTimesPage },
  // Written by hand, but for its manifest.
  { path: "docs/production.md", render: () => withManifests(textOf("docs/production.md")) },
];
