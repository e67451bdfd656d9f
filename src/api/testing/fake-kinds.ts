// Our kinds for the in-memory API server: what installing their CRDs does to a real one.
import type { FakeKind } from "../../kube/testing/fake-api/resources.ts";
import { kinds } from "../kinds.ts";

export const fakeKinds: readonly FakeKind[] = kinds.map(({ kind }) => ({ kind, status: true }));
