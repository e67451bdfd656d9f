// What the benchmarks tell the programs that they start, by environment.

interface PodSettings {
  /** What is cached and where the lease lies. */
  readonly namespace: string;
  /** Name of the lease; also how the program names itself in it and to the API server. */
  readonly lease: string;
  readonly listen: string;
}

export const podEnvironment = ({ namespace, lease, listen }: PodSettings): Record<string, string> => ({
  BENCH_NAMESPACE: namespace,
  BENCH_LEASE: lease,
  BENCH_LISTEN: listen,
});

export const podSettings = (): PodSettings => ({
  namespace: setting("BENCH_NAMESPACE"),
  lease: setting("BENCH_LEASE"),
  listen: setting("BENCH_LISTEN"),
});

function setting(name: string): string {
  const value = process.env[name];
  if (value === undefined) throw new Error(`${name} is not set; this program is started by a benchmark.`);
  return value;
}
