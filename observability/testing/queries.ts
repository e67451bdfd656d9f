// Every query of a dashboard, for tests that look each one up or send it to a Prometheus.
import type { Dashboard, Query } from "../dashboards/panel.ts";

export const queriesOf = ({ rows }: Dashboard): readonly Query[] =>
  rows.flatMap(({ panels }) => panels.flatMap(({ queries }) => queries));
