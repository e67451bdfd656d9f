// A component of a release: what the bill of materials and the file of licences say of it.

export interface Component {
  /** Unique in the release, and valid as an SPDX identifier: letters, digits, dots and hyphens. */
  readonly id: string;
  readonly name: string;
  readonly version: string;
  /** A package URL: https://github.com/package-url/purl-spec. */
  readonly purl: string;
  /** An SPDX expression, as its authors state it, or as its text says. */
  readonly license?: string;
  readonly checksum?: { readonly algorithm: "SHA256" | "SHA512"; readonly value: string };
  /** The texts of its licences and notices. */
  readonly texts: readonly string[];
  /** The ids of the components that it is a part of; without any, it is a part of the image itself. */
  readonly within: readonly string[];
}

/** A character that an SPDX identifier cannot have becomes a hyphen. */
export const idOf = (...words: readonly string[]): string => words.join("-").replaceAll(/[^A-Za-z0-9.-]/g, "-");

/** By words that only one licence has. Undefined: a person has to look. */
export function licenseIn(text: string): string | undefined {
  const words = text.replaceAll(/\s+/g, " ");
  const found: string[] = [];
  if (/Apache License,? Version 2\.0/i.test(words)) found.push("Apache-2.0");
  if (/Mozilla Public License,? (Version|v\.) ?2\.0/i.test(words)) found.push("MPL-2.0");
  if (/Permission is hereby granted, free of charge, to any person obtaining a copy/i.test(words)) found.push("MIT");
  if (/Permission to use, copy, modify, and\/?(or)? distribute this software for any/i.test(words)) found.push("ISC");
  if (/Redistribution and use in source and binary forms/i.test(words))
    found.push(
      /Neither the name|may not be used to endorse|The names? of .{0,60} may not be used/i.test(words)
        ? "BSD-3-Clause"
        : "BSD-2-Clause",
    );
  return found.length === 0 ? undefined : found.join(" AND ");
}
