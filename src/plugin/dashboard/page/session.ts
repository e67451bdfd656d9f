// How this browser gets in: the token in the address is exchanged for a cookie that no script can read, and is removed.

type Entry =
  | { readonly t: "in" /** Where to begin, as in default/my-etcd. */; readonly cluster?: string }
  | { readonly t: "out"; readonly sentence: string };

export async function enter(): Promise<Entry> {
  const { token, cluster } = fromAddress();
  if (token !== undefined) history.replaceState(null, "", cluster === undefined ? "#/" : `#/${cluster}`);
  const answer =
    token === undefined
      ? await fetch("/hello")
      : await fetch("/session", { method: "POST", body: token, headers: { "Content-Type": "text/plain" } });
  if (answer.ok) return { t: "in", ...(cluster !== undefined && { cluster }) };
  // A used token in a browser that is in already, as after «back».
  if (token !== undefined && (await fetch("/hello")).ok) return { t: "in" };
  return {
    t: "out",
    sentence:
      token === undefined
        ? "Open the address that `kubectl etcd dashboard` printed. It works once, in one browser."
        : "This address was already used, or belongs to another run. Restart `kubectl etcd dashboard`: it prints a new one.",
  };
}

function fromAddress(): { readonly token?: string; readonly cluster?: string } {
  const said = new URLSearchParams(location.hash.slice(1));
  const [token, cluster] = [said.get("token"), said.get("cluster")];
  return token === null ? {} : { token, ...(cluster !== null && { cluster }) };
}
