// The lab that the suites run on; `test/run.ts` passes its name and subnet in the environment.
import { type LabConfig, labConfig } from "../../lab/config.ts";

export function testLab(): LabConfig {
  const name = process.env["LAB_NAME"];
  const subnet = process.env["LAB_SUBNET"];
  return labConfig({ ...(name === undefined ? {} : { name }), ...(subnet === undefined ? {} : { subnet }) });
}
