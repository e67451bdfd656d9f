// What a package-lock.json must be, so that `npm ci` installs the same bytes everywhere, from any registry, and runs none of them.

interface Entry {
  readonly version?: string;
  readonly integrity?: string;
  readonly resolved?: string;
  readonly link?: boolean;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

interface Lock {
  readonly lockfileVersion: number;
  readonly packages: Readonly<Record<string, Entry>>;
}

/** Everything that is wrong with it, in sentences. */
export function wrongIn(lock: Lock): string[] {
  const wrong: string[] = lock.lockfileVersion === 3 ? [] : [`its version is ${lock.lockfileVersion}, not 3`];
  for (const [where, entry] of Object.entries(lock.packages)) {
    for (const name of Object.keys({ ...entry.dependencies, ...entry.optionalDependencies }))
      if (!isFound(name, where, lock)) wrong.push(`${where || "the package itself"} needs ${name}, which has no entry`);
    if (where !== "") wrong.push(...wrongWith(where, entry));
  }
  return wrong;
}

function* wrongWith(where: string, { integrity, resolved, link, version }: Entry): Generator<string> {
  if (link === true) yield `${where} is a link`;
  if (version === undefined) yield `${where} has no version`;
  if (!/^sha512-[A-Za-z0-9+/]{86}==$/.test(integrity ?? "")) yield `${where} has no sha512`;
  // The hash says which package it is; the host is only where somebody happened to find it.
  if (resolved !== undefined) yield `${where} names the host ${resolved}`;
}

/** As Node looks it up: in the package's own folder, then in that of each package around it. */
function isFound(name: string, where: string, lock: Lock): boolean {
  for (let around = where; ; around = around.replace(/(^|\/)node_modules\/(@[^/]+\/)?[^/]+$/, "")) {
    if (lock.packages[`${around}${around === "" ? "" : "/"}node_modules/${name}`] !== undefined) return true;
    if (around === "") return false;
  }
}
