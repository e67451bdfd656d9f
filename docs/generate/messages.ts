// docs/reference/messages.md: every sentence that the operator, its workers and kubectl etcd can say to a person, read from
// the code that says it. A source file with sentences has to belong to a section, or to what is documented elsewhere.
import { readdirSync, readFileSync } from "node:fs";
import * as path from "node:path";
import { refusalsOf } from "../../src/api/generate/reference.ts";
import { kinds } from "../../src/api/kinds.ts";
import { gap, literalsIn } from "./literals.ts";

const root = path.resolve(import.meta.dirname, "../..");

interface Section {
  readonly title: string;
  readonly where: string;
  /** Paths below src that begin so. */
  readonly of: readonly string[];
  /** Where files hold other sentences as well. */
  readonly only?: RegExp;
}

const sections: readonly Section[] = [
  {
    title: "Specs that only the operator can refuse",
    where: "`Ready` with the reason `InvalidSpec`, or `Problem` of an EtcdBackup, and an event.",
    of: ["api/etcd-", "api/backups/stores.ts", "api/schema/check.ts"],
    only: /^(spec\b|metadata\b|…)/,
  },
  {
    title: "Clusters",
    where: "Conditions and events of an EtcdCluster.",
    of: ["cluster/", "etcd/versions/steps.ts"],
  },
  { title: "Certificates", where: "`CertificatesValid` and the event `Certificate Problem`.", of: ["tls/"] },
  {
    title: "Backups and their workers",
    where: "Status and events of an EtcdBackup; logs of its worker.",
    of: ["backup/", "worker/"],
  },
  {
    title: "Stores and encryption",
    where: "Status and events of EtcdBackups and EtcdRestores.",
    of: ["store/", "seal/"],
  },
  {
    title: "Objects that no operator looks after",
    where: "The event `Not Taken`, on objects without a scope annotation.",
    of: ["api/unclaimed/"],
  },
  { title: "Restores", where: "Status and events of an EtcdRestore.", of: ["restore/"] },
  {
    title: "The operator's start",
    where: "Its output and log.",
    of: ["flags.ts", "environment.ts", "own-image.ts", "api/crd/install.ts", "kube/credentials/"],
  },
  { title: "kubectl etcd", where: "What the plugin prints when it cannot do what it was asked.", of: ["plugin/"] },
];

/** Sentences of these are documented elsewhere, or are never said to a person. */
const elsewhere: readonly { readonly of: RegExp; readonly because: string }[] = [
  { of: /^api\/.*\/(spec|status|kind|etcd-\w+|encryption|worker-policy)\.ts$/, because: "fields: docs/api.md" },
  { of: /^api\/(.*\/)?rules\.ts$/, because: "refused by the API server: the first section, from the rules themselves" },
  { of: /^api\/events\.ts$/, because: "docs/reference/events.md" },
  { of: /^api\/conditions(\.ts$|\/)/, because: "docs/reference/conditions.md" },
  { of: /^(api|etcd|plugin)\/generate/, because: "makes files of this tree" },
  { of: /metrics\.ts$/, because: "docs/observability.md" },
  { of: /^plugin\/rights\.ts$|^plugin\/line\/(help|global-flags)\.ts$/, because: "docs/kubectl-etcd.md" },
  {
    of: /^(kube\/(?!credentials\/)|transport\/|etcd\/(?!versions\/steps))/,
    because: "quoted inside of other messages, and in logs",
  },
];

export function messagesPage(): string {
  const said = sentencesBySection();
  return `# Messages

<!-- Made by \`node docs/generate.ts\` from the sentences in src. -->

Every sentence that the operator, its workers and \`kubectl etcd\` can say when something is wrong or waits. Each says itself what
to do; this page is for finding them. \`${gap}\` stands for what differs: a name, a number, or a further sentence.

## Refused by the API server
\`kubectl apply\` prints these, and nothing is changed. An object that was stored before the rule existed stays as it is, and the
operator writes the same sentence into its status.

${kinds.map((kind) => `### ${kind.kind.kind}\n\n${listed(refusalsOf(kind))}`).join("\n\n")}

${sections.map((section) => `## ${section.title}\n${section.where}\n\n${listed(said.get(section) ?? [])}`).join("\n\n")}
`;
}

function sentencesBySection(): ReadonlyMap<Section, readonly string[]> {
  const found = new Map<Section, string[]>(sections.map((section) => [section, []]));
  const manual = readFileSync(path.join(root, "docs/kubectl-etcd.md"), "utf8");
  for (const file of sourceFiles()) {
    const sentences = messagesIn(readFileSync(path.join(root, "src", file), "utf8"));
    if (sentences.length === 0) continue;
    const section = sectionOf(file);
    if (section === undefined) continue;
    const isHelp = (sentence: string): boolean => file.startsWith("plugin/") && manual.includes(sentence);
    const { only = /^/ } = section;
    found.get(section)?.push(...sentences.filter((sentence) => only.test(sentence) && !isHelp(sentence)));
  }
  return found;
}

/** Undefined: its sentences are documented elsewhere. */
export function sectionOf(file: string): Section | undefined {
  if (elsewhere.some(({ of }) => of.test(file))) return undefined;
  const section = sections.find(({ of }) => of.some((start) => file.startsWith(start)));
  if (section === undefined)
    throw new Error(
      `src/${file} has sentences for people: name it in docs/generate/messages.ts, in a section or elsewhere.`,
    );
  return section;
}

/** Whole sentences; parts that others are put together from are not found alone. */
export function messagesIn(source: string): string[] {
  return literalsIn(source)
    .map(({ text }) => text)
    .filter(
      (text) =>
        /^\S[^\n]*[.…]$/.test(text) &&
        text.split(" ").length >= 5 &&
        (text.endsWith(".") || /[:.] /.test(text)) &&
        /[a-z]{3} [a-z]{2}/.test(text),
    );
}

function sourceFiles(): string[] {
  return readdirSync(path.join(root, "src"), { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".ts") && !file.endsWith(".test.ts") && !/(^|\/)(testing|gen)\//.test(file))
    .toSorted();
}

const listed = (sentences: readonly string[]): string =>
  [...new Set(sentences)].map((sentence) => `- ${inMarkdown(sentence)}`).join("\n");

/** What Markdown would read as marks stays text; code stays code. */
function inMarkdown(text: string): string {
  return text
    .split("`")
    .map((part, at) => (at % 2 === 1 ? part : part.replaceAll(/[*_<>[\]{}]/g, "\\$&")))
    .join("`");
}
