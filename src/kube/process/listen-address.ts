// Where the endpoints are served: `:8080`, `host:8080`, `[::1]:8080`, or `0` for nowhere.

export type ListenAddress =
  | { readonly t: "nowhere" }
  | { readonly t: "tcp"; readonly host: string | undefined; readonly port: number };

/** Fails with a sentence that says what is expected. Port 0 in `host:0` lets the system choose. */
export function parseListenAddress(text: string): ListenAddress {
  if (text === "" || text === "0") return { t: "nowhere" };
  const parts = /^(?:\[(?<v6>[^\]]*)\]|(?<host>[^:[\]]*)):(?<port>\d{1,5})$/.exec(text)?.groups;
  const port = Number(parts?.["port"]);
  if (parts === undefined || port > 65_535) {
    throw new RangeError(
      `"${text}" is not a listen address: write host:port, [ipv6]:port, :port for all interfaces, or 0`,
    );
  }
  const host = parts["v6"] || parts["host"];
  // In Go, and so in the manifests of etcd-operator 0.9, this means every interface, IPv6 included; in Node it does not.
  return { t: "tcp", host: host === "" || host === "0.0.0.0" ? undefined : host, port };
}
