// Our kinds as the in-memory API server takes them: what installing their definitions does to a real one.
import type { FakeKind } from "../../kube/testing/fake-api/resources.ts";
import { kinds } from "../kinds.ts";

export const fakeKinds: readonly FakeKind[] = kinds.map(({ kind, scale }) => ({
  kind,
  status: true,
  ...(scale !== undefined && { scale }),
}));
