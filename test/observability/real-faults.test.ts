// Every alert is shown under a real fault, or it is said why not; and what tests shorten for that are times alone.
import assert from "node:assert/strict";
import { test } from "node:test";
import { alerts } from "../../observability/alerts/alerts.ts";
import { onlyInSeries, realFaults } from "../e2e/alerts/faults.ts";
import { shortened, shorterTimes } from "../e2e/alerts/shortened.ts";

test("every alert has a real fault, or a reason why series alone show it", () => {
  const both = [...Object.keys(realFaults), ...Object.keys(onlyInSeries)];
  assert.deepEqual(both.sort(), alerts.map(({ name }) => name).sort());
});

/** A range, or a number of seconds that something is compared with. */
const isTime = (text: string): boolean => /^\[\d+[smhd]\]$|^> \d+$/.test(text);

const secondsOf = (text: string): number => {
  const [, count = "", unit = "s"] = /(\d+)([smhd])?/.exec(text) ?? [];
  return Number(count) * { s: 1, m: 60, h: 3600, d: 86_400 }[unit as "s" | "m" | "h" | "d"];
};

for (const [name, times] of Object.entries(shorterTimes))
  test(`${name} differs in tests only by shorter times`, () => {
    const alert = alerts.find((one) => one.name === name) ?? assert.fail(`there is no alert ${name}`);
    for (const [long, short] of Object.entries(times)) {
      assert.ok(isTime(long) && isTime(short), `${long} or ${short} is not a time`);
      assert.ok(alert.expr.includes(long), `${long} is not in ${alert.expr}`);
      assert.ok(secondsOf(short) < secondsOf(long));
    }
    const back = Object.entries(times).reduce(
      (expr, [long, short]) => expr.replaceAll(short, long),
      shortened(alert).expr,
    );
    assert.equal(back, alert.expr);
  });
