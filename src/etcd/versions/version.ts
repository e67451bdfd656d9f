// An etcd version: parse, format, compare. A pre-release is older than its release, as in semver.

export interface EtcdVersion {
  readonly major: number;
  readonly minor: number;
  readonly patch: number;
  /** As in `rc.0`; empty for a release. */
  readonly preRelease: string;
}

const pattern = /^v?(\d{1,5})\.(\d{1,5})\.(\d{1,5})(?:-([0-9A-Za-z.-]+))?(?:\+[0-9A-Za-z.-]+)?$/;

/** Undefined when the text is not a full version, as in `3.6` or `latest`. */
export function parseVersion(text: string): EtcdVersion | undefined {
  const match = pattern.exec(text.trim());
  if (!match) return undefined;
  const [, major, minor, patch, preRelease = ""] = match;
  return { major: Number(major), minor: Number(minor), patch: Number(patch), preRelease };
}

/** For literals in the source. */
export function version(text: string): EtcdVersion {
  const parsed = parseVersion(text);
  if (!parsed) throw new TypeError(`"${text}" is not an etcd version`);
  return parsed;
}

export function formatVersion({ major, minor, patch, preRelease }: EtcdVersion): string {
  return `${major}.${minor}.${patch}${preRelease === "" ? "" : `-${preRelease}`}`;
}

/** Negative when `a` is older than `b`, 0 when they are the same, positive when it is newer. */
export function compareVersions(a: EtcdVersion, b: EtcdVersion): number {
  return a.major - b.major || a.minor - b.minor || a.patch - b.patch || comparePreReleases(a.preRelease, b.preRelease);
}

function comparePreReleases(a: string, b: string): number {
  if (a === b) return 0;
  if (a === "") return 1;
  if (b === "") return -1;
  const left = a.split(".");
  const right = b.split(".");
  for (let at = 0; at < Math.max(left.length, right.length); at += 1) {
    const one = left[at];
    const other = right[at];
    if (one === other) continue;
    if (one === undefined) return -1;
    if (other === undefined) return 1;
    const bothNumbers = /^\d+$/.test(one) && /^\d+$/.test(other);
    return bothNumbers ? Number(one) - Number(other) : one < other ? -1 : 1;
  }
  return 0;
}

export function isAtLeast(v: EtcdVersion, oldest: EtcdVersion): boolean {
  return compareVersions(v, oldest) >= 0;
}

export function sameMinor(a: EtcdVersion, b: EtcdVersion): boolean {
  return a.major === b.major && a.minor === b.minor;
}

/** As in `3.6`. */
export function minorOf({ major, minor }: EtcdVersion): string {
  return `${major}.${minor}`;
}

export function oldestVersion(versions: readonly EtcdVersion[]): EtcdVersion | undefined {
  return versions.reduce<EtcdVersion | undefined>(
    (oldest, v) => (oldest === undefined || compareVersions(v, oldest) < 0 ? v : oldest),
    undefined,
  );
}
