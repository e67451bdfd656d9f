// Sizes as people write them.

const units = ["B", "KiB", "MiB", "GiB", "TiB"] as const;

/** As in 512 B, 1.5 MiB, 24 MiB. */
export function bytesInWords(bytes: number): string {
  const power = bytes < 1024 ? 0 : Math.min(Math.floor(Math.log2(bytes) / 10), units.length - 1);
  const value = bytes / 1024 ** power;
  const digits = power === 0 || value >= 10 || Number.isInteger(value) ? 0 : 1;
  return `${value.toFixed(digits)} ${units[power]}`;
}
