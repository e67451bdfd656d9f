// RELEASE-NOTES.md: what the changelog says of the version, the image by digest, and what differs in permissions.
import { readFile, writeFile } from "node:fs/promises";
import * as path from "node:path";
import { currentRules, lastRelease } from "./last-release.ts";
import type { Part, Release } from "./part.ts";
import { permissionsDiff, permissionsSection } from "./permissions-diff.ts";
import { project } from "./project.ts";

/** The text below a version's heading, which begins with its number: `## 0.1.0`, with or without a date. */
export function changesOf(version: string, changelog: string): string {
  const sections = changelog.split(/^## /m).slice(1);
  const section =
    sections.find((text) => /^\S+/.exec(text)?.[0].replace(/,$/, "") === version) ??
    // A candidate, or a release for trying: its changes are those that are not released.
    sections.find((text) => headingOf(text).endsWith("not released yet"));
  if (section === undefined)
    throw new Error(`CHANGELOG.md has no "## ${version}". Its versions: ${sections.map(headingOf).join("; ")}.`);
  return section.slice(section.indexOf("\n") + 1).trim();
}

const headingOf = (section: string): string => section.split("\n", 1)[0] ?? "";

/** Links of the changelog lead to files of the tree; elsewhere they need the repository in front of them. */
export function withLinks(markdown: string, version: string, repository: string | undefined): string {
  if (repository === undefined) return markdown.replaceAll(/\[([^\]]*)\]\((?![a-z]+:)[^)]*\)/g, "$1");
  return markdown.replaceAll(/\]\((?![a-z]+:|#)/g, `](${repository}/blob/v${version}/`);
}

export function releaseNotes(release: Release, changelog: string): string {
  const { version, revision, image } = release;
  const changes = permissionsDiff(lastRelease.rules, currentRules);
  return `# etcd operator ${version}

| | |
|---|---|
| image | \`${image.repository}:${image.tag}@${image.digest}\` |
| commit | \`${revision}\` |
| release before | ${lastRelease.version ?? "none: this is the first"} |

## Permissions

${permissionsSection(changes, lastRelease.version)}

## Changes

${withLinks(changesOf(version, changelog), version, project.repository)}
`;
}

export const notes: Part = {
  name: "release notes",
  async make(release) {
    const file = "RELEASE-NOTES.md";
    const changelog = await readFile(path.resolve(import.meta.dirname, "../CHANGELOG.md"), "utf8");
    await writeFile(path.join(release.folder, file), releaseNotes(release, changelog));
    return [file];
  },
};
