// The lab that the suites run on, as `test/run.ts` names it to them.
import { type LabConfig, labConfig } from "../../lab/config.ts";

export function testLab(): LabConfig {
  const name = process.env["LAB_NAME"];
  const subnet = process.env["LAB_SUBNET"];
  return labConfig({ ...(name === undefined ? {} : { name }), ...(subnet === undefined ? {} : { subnet }) });
}
