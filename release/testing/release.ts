// A release for tests, of this version.
import { version } from "../../src/version.ts";
import type { Release } from "../part.ts";

export const exampleRelease = (folder: string): Release => ({
  version,
  revision: "0123456789abcdef0123456789abcdef01234567",
  time: Date.UTC(2027, 0, 2) / 1000,
  folder,
  image: { repository: "registry.example/etcd-operator", tag: version, digest: `sha256:${"ab".repeat(32)}` },
});
