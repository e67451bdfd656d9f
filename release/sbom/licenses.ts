// The licences of all components in one file, each text once, under the components that it is of.
import type { Component } from "./component.ts";

const line = "=".repeat(80);

export function licensesOf(components: readonly Component[]): string {
  const byText = new Map<string, string[]>();
  for (const { name, version, texts } of components)
    for (const text of texts.map(tidied)) {
      const title = `${name} ${version}`;
      const titles = byText.get(text) ?? [];
      if (!titles.includes(title)) titles.push(title);
      byText.set(text, titles);
    }
  const without = components.filter(({ texts }) => texts.length === 0);
  const stated = without.map(({ name, version, license }) => `${name} ${version}: ${license ?? "not stated"}`);
  const sections = [...byText].map(([text, titles]) => `${line}\n${titles.join("\n")}\n${line}\n\n${text}\n`);
  return [
    "The licences of everything that the image and the kubectl plugin contain.\n",
    ...sections,
    ...(stated.length === 0
      ? []
      : [`${line}\nPackages without a text of their own state these licences:\n${line}\n\n${stated.join("\n")}\n`]),
  ].join("\n");
}

const tidied = (text: string): string => text.replaceAll("\r\n", "\n").trim();
