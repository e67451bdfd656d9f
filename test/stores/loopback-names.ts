// Makes every name below `oss.test` lead to loopback in this process, for stores that want a bucket in the host's name.
import dns from "node:dns";

export const ossDomain = "oss.test";

const real = dns.lookup;

type Done = (error: NodeJS.ErrnoException | null, address: string | dns.LookupAddress[], family?: number) => void;

function lookup(name: string, options: dns.LookupAllOptions | Done, done?: Done): void {
  if (!name.endsWith(ossDomain)) {
    Reflect.apply(real, dns, [name, options, done]);
    return;
  }
  if (typeof options === "function") options(null, "127.0.0.1", 4);
  else if (options.all) done?.(null, [{ address: "127.0.0.1", family: 4 }]);
  else done?.(null, "127.0.0.1", 4);
}

Object.assign(dns, { lookup });
