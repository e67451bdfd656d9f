// A registry of metrics in Prometheus' text format. Our own, because prom-client costs 5.5 MB of private memory (it
// pulls in HTTP clients and cluster support), a fifth of what the whole operator may use.

export type Labels = Readonly<Record<string, string>>;

interface Family {
  readonly name: string;
  readonly text: () => string;
}

interface Described {
  name: string;
  help: string;
}

export class Registry {
  readonly #families = new Map<string, Family>();
  readonly #beforeScrape: (() => void)[] = [];

  counter(described: Described): Counter {
    return this.#add(new Counter(described));
  }

  gauge(described: Described): Gauge {
    return this.#add(new Gauge(described));
  }

  histogram(described: Described & { buckets: readonly number[] }): Histogram {
    return this.#add(new Histogram(described));
  }

  /** For values that are looked up when somebody asks, such as memory. */
  onScrape(update: () => void): void {
    this.#beforeScrape.push(update);
  }

  text(): string {
    for (const update of this.#beforeScrape) update();
    return [...this.#families.values()].map((family) => family.text()).join("");
  }

  #add<F extends Family>(family: F): F {
    if (!/^[a-zA-Z_:][\w:]*$/.test(family.name)) throw new RangeError(`${family.name} is not a valid metric name`);
    if (this.#families.has(family.name)) throw new RangeError(`there is a metric ${family.name} already`);
    this.#families.set(family.name, family);
    return family;
  }
}

abstract class Samples implements Family {
  readonly name: string;
  readonly #help: string;
  readonly #type: string;
  protected readonly values = new Map<string, number>();

  constructor({ name, help }: Described, type: string) {
    this.name = name;
    this.#help = help;
    this.#type = type;
  }

  /** All series that have these labels, and perhaps others behind them. */
  remove(labels: Labels): void {
    const text = labelText(labels);
    for (const key of this.values.keys()) if (key === text || key.startsWith(`${text},`)) this.values.delete(key);
  }

  clear(): void {
    this.values.clear();
  }

  text(): string {
    const samples = [...this.values].map(([labels, value]) => `${this.name}${braced(labels)} ${number(value)}\n`);
    return `${header(this.name, this.#help, this.#type)}${samples.join("")}`;
  }
}

export class Counter extends Samples {
  constructor(described: Described) {
    super(described, "counter");
  }

  add(labels: Labels = {}, by = 1): void {
    if (!(by >= 0)) throw new RangeError(`the counter ${this.name} cannot go down`);
    const key = labelText(labels);
    this.values.set(key, (this.values.get(key) ?? 0) + by);
  }
}

export class Gauge extends Samples {
  constructor(described: Described) {
    super(described, "gauge");
  }

  set(labels: Labels, value: number): void {
    this.values.set(labelText(labels), value);
  }
}

export class Histogram implements Family {
  readonly name: string;
  readonly #help: string;
  readonly #bounds: readonly number[];
  readonly #series = new Map<string, { counts: Float64Array; sum: number }>();

  constructor({ name, help, buckets }: Described & { buckets: readonly number[] }) {
    this.name = name;
    this.#help = help;
    this.#bounds = buckets.toSorted((a, b) => a - b);
  }

  observe(labels: Labels, value: number): void {
    const key = labelText(labels);
    let series = this.#series.get(key);
    if (series === undefined) {
      series = { counts: new Float64Array(this.#bounds.length + 1), sum: 0 };
      this.#series.set(key, series);
    }
    const bucket = this.#bounds.findIndex((bound) => value <= bound);
    const at = bucket < 0 ? this.#bounds.length : bucket;
    series.counts[at] = (series.counts[at] ?? 0) + 1;
    series.sum += value;
  }

  text(): string {
    const lines: string[] = [header(this.name, this.#help, "histogram")];
    for (const [labels, { counts, sum }] of this.#series) {
      let total = 0;
      counts.forEach((count, i) => {
        total += count;
        const le = `le="${number(this.#bounds[i] ?? Infinity)}"`;
        lines.push(`${this.name}_bucket${braced(labels === "" ? le : `${labels},${le}`)} ${total}\n`);
      });
      lines.push(
        `${this.name}_sum${braced(labels)} ${number(sum)}\n`,
        `${this.name}_count${braced(labels)} ${total}\n`,
      );
    }
    return lines.join("");
  }
}

function header(name: string, help: string, type: string): string {
  return `# HELP ${name} ${help.replaceAll("\\", "\\\\").replaceAll("\n", "\\n")}\n# TYPE ${name} ${type}\n`;
}

/** Sorted, so that the same labels are the same series in whatever order they are given. */
function labelText(labels: Labels): string {
  const names = Object.keys(labels).sort();
  return names.map((name) => `${name}="${escaped(labels[name] ?? "")}"`).join(",");
}

function escaped(value: string): string {
  return value.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n");
}

function braced(labels: string): string {
  return labels === "" ? "" : `{${labels}}`;
}

function number(value: number): string {
  if (value === Infinity) return "+Inf";
  return value === -Infinity ? "-Inf" : String(value);
}
