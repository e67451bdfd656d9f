// Makes some names lead to loopback in this process: those of a store that wants a bucket in the host's name, and one that
// is taken for AWS.
import dns from "node:dns";

export const ossDomain = "oss.test";
export const awsName = "lab.amazonaws.com";

const real = dns.lookup;

type Done = (error: NodeJS.ErrnoException | null, address: string | dns.LookupAddress[], family?: number) => void;

function lookup(name: string, options: dns.LookupAllOptions | Done, done?: Done): void {
  if (!name.endsWith(ossDomain) && name !== awsName) {
    Reflect.apply(real, dns, [name, options, done]);
    return;
  }
  if (typeof options === "function") options(null, "127.0.0.1", 4);
  else if (options.all) done?.(null, [{ address: "127.0.0.1", family: 4 }]);
  else done?.(null, "127.0.0.1", 4);
}

Object.assign(dns, { lookup });
