// Stands before fake-gcs-server, which takes the question how much of an upload it has ("bytes */*") for the end of that
// upload. This one answers the question as Google does, from what the server has answered before.
import { startForwarding, type Forwarder, type Reply } from "./forwarding.ts";
import type { Place } from "./server.ts";

type Session = { readonly t: "open"; readonly range: string | undefined } | { readonly t: "complete" };

export function startGcsSessions({ host, port }: Place): Promise<Forwarder> {
  const sessions = new Map<string, Session>();
  return startForwarding({
    upstream: { host, port },
    reply({ method, url = "", headers }) {
      const asks = method === "PUT" && headers["content-range"]?.startsWith("bytes */") === true;
      return asks ? statusOf(sessions.get(idOf(url))) : undefined;
    },
    answered({ method, url = "" }, { statusCode, headers }) {
      if (method === "POST" && url.includes("uploadType=resumable"))
        sessions.set(idOf(headers.location ?? ""), { t: "open", range: undefined });
      if (method !== "PUT") return;
      if (statusCode === 308) sessions.set(idOf(url), { t: "open", range: headers["range"] });
      if (statusCode === 200) sessions.set(idOf(url), { t: "complete" });
    },
  });
}

function statusOf(session: Session | undefined): Reply {
  if (!session) return { status: 404 };
  if (session.t === "complete") return { status: 200, body: "{}" };
  return { status: 308, ...(session.range !== undefined && { headers: { range: session.range } }) };
}

const idOf = (url: string): string => new URL(url, "http://server").searchParams.get("upload_id") ?? "";
