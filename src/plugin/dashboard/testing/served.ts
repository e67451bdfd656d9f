// A dashboard of the sample cluster, with a page of a few words.
import { staged } from "../../testing/sample-cluster.ts";
import type { Stage } from "../../testing/stage.ts";
import { now } from "../../view/testing/scenes.ts";
import { Feed } from "../feed.ts";
import type { PageTexts } from "../page-texts.ts";
import { type Dashboard, serveDashboard } from "../server.ts";
import { ask, ownPage } from "./ask.ts";

export const shortPage: PageTexts = { html: "<p>page</p>", style: "p{}", script: "void 0", icon: "<svg/>" };

export interface Served extends Dashboard {
  readonly stage: Stage;
  readonly feed: Feed;
}

export async function served(scene = "healthy"): Promise<Served> {
  const stage = await staged(scene);
  const feed = new Feed({ reach: stage.reach(), namespace: "default", flags: ["--context=lab"], now: () => now });
  const dashboard = await serveDashboard({ feed, page: shortPage, port: 0 });
  return { ...dashboard, stage, feed };
}

/** The headers of a page that has exchanged the token. */
export async function admitted({ port, token }: Dashboard): Promise<Record<string, string>> {
  const origin = `http://127.0.0.1:${port}`;
  const answer = await ask({ port, path: "/session", method: "POST", headers: { ...ownPage, origin }, body: token });
  const [cookie = ""] = answer.headers["set-cookie"] ?? [];
  return { "sec-fetch-site": "same-origin", cookie: cookie.split(";")[0] ?? "" };
}
