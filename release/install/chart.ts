// The Helm chart of a release as Helm packages it, with the release's image by its digest as the default.
import { readdir } from "node:fs/promises";
import * as path from "node:path";
import { releasedChartFiles } from "../../install/chart/chart-files.ts";
import { tree } from "../../lab/images/bundle.ts";
import type { Entry } from "../../lab/images/tar.ts";
import { writeTarGz } from "../archive.ts";
import { names } from "../names.ts";
import type { Part } from "../part.ts";

const chartName = "etcd-operator";

export const chart: Part = {
  name: "chart",
  async make({ version, folder, time, image }) {
    const file = names(version).chart;
    const templates = path.join(tree, "charts", chartName, "templates");
    const entries: Entry[] = [
      ...Object.entries(releasedChartFiles(image)).map(
        ([name, text]): Entry => ({ is: "text", path: `${chartName}/${name}`, mode: 0o644, text }),
      ),
      ...(await readdir(templates)).map(
        (name): Entry => ({
          is: "copy",
          path: `${chartName}/templates/${name}`,
          mode: 0o644,
          of: path.join(templates, name),
        }),
      ),
    ];
    await writeTarGz(path.join(folder, file), entries, time);
    return [file];
  },
};
