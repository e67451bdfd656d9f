// The files of the repository that are made from release/: who maintains it, where it is published, what is supported.
import type { GeneratedFile } from "../src/api/generate/files.ts";
import { version } from "../src/version.ts";
import { downloads, type Project, project } from "./project.ts";
import { supportPage } from "./support/page.ts";

const made = "Made by `node release/generate.ts`: change release/project.ts, not this file.";

export const generatedFiles = (of: Project = project): readonly GeneratedFile[] => [
  { path: "MAINTAINERS.md", render: () => maintainersPage(of) },
  { path: "artifacthub-repo.yml", render: () => artifactHub(of) },
  { path: "docs/support.md", render: supportPage },
  // Written by hand, but for the place that releases are fetched from.
  {
    path: "docs/quick-start.md",
    render: (page) => page.replaceAll(/^(RELEASE=).*$/gm, `$1${downloads(version, of)}`),
  },
];

function maintainersPage({ maintainers }: Project): string {
  const rows = maintainers.map(({ name, handle }) => `| ${name} | @${handle} |`);
  const list =
    rows.length === 0
      ? "Nobody is named yet. Whoever publishes this repository names the maintainers in `release/project.ts`."
      : ["| name | GitHub |", "|---|---|", ...rows].join("\n");
  return `# Maintainers

<!-- ${made} -->

${list}

[GOVERNANCE.md](GOVERNANCE.md) says what maintainers decide and how one becomes a maintainer. Report weaknesses as
[SECURITY.md](SECURITY.md) says.
`;
}

/** Pushed beside the chart, it makes the publisher a verified one. */
function artifactHub({ artifactHubId }: Project): string {
  const id = artifactHubId === undefined ? "" : `repositoryID: ${artifactHubId}\n`;
  return `# What Artifact Hub reads of this repository. The id, which makes the publisher a verified one, stands in release/project.ts.
# ${made}
${id}ignore: []
`;
}
