/** Imports OpenDialKG, or a data set in its format, from files the user has. */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { sha256File, writeFileAtomic } from '../../src/run/files.js';
import type { ProgressReporter } from '../../src/run/progress.js';
import { silentProgress } from '../../src/run/progress.js';
import { writeGraphFile } from '../../src/kg/graph-file.js';
import { datasetFolder, replaceFolder } from '../dataset-folder.js';
import type { Dialogue } from '../dialogue.js';
import type { DatasetManifest } from '../manifest.js';
import { dialogueFileName, graphFileName, manifestFileName, splitNames } from '../manifest.js';
import { describeImport, type ImportOrigin } from './describe-import.js';
import { importDialogues } from './import-dialogues.js';
import { importGraphs } from './import-graphs.js';
import { findReleaseFiles } from './release-files.js';

/** What every importer is given. */
export interface ImportOptions {
  /** Folder of the release; each importer says which files it looks for. */
  from: string;
  /** Name to import under. Default the format, such as `opendialkg`. An existing data set of that name is replaced when all went well. */
  name?: string;
  /** Default `KGWALK_HOME`. */
  home?: string;
  progress?: ProgressReporter;
}

/**
 * Reads and checks everything, then writes `<home>/datasets/<name>/`: `dataset.json`, `dialogues.<split>.jsonl`,
 * `graph-<graph>.bin`. Nothing is written where the data is bad.
 * @throws WorkbenchError `data` (file, line or row, reason), `usage` for a bad name, `failure` when the disk refuses
 */
export async function importOpenDialKg(options: ImportOptions & { origin?: ImportOrigin }): Promise<DatasetManifest> {
  const { from, name = 'opendialkg', home, progress = silentProgress, origin } = options;
  const folder = datasetFolder(name, home);
  const files = findReleaseFiles(from);
  const line = progress('import', 3, 'steps');
  try {
    const dialogues = await importDialogues(files.dialogues);
    line.update(1, 'dialogues read');
    const graphs = await importGraphs(files);
    line.update(2, 'graphs built');
    const manifest = await replaceFolder(folder, async (temporary) => {
      for (const split of splitNames) {
        writeFileAtomic(join(temporary, dialogueFileName(split)), dialogueLines(dialogues.splits[split]));
      }
      for (const { graph } of graphs) writeGraphFile(join(temporary, graphFileName(graph.name)), graph);
      const written: Record<string, string> = {};
      for (const file of readdirSync(temporary).sort()) written[file] = await sha256File(join(temporary, file));
      const description = await describeImport(name, files, dialogues, graphs, written, origin);
      writeFileAtomic(join(temporary, manifestFileName), `${JSON.stringify(description, null, 2)}\n`);
      return description;
    });
    line.update(3, 'written');
    return manifest;
  } finally {
    line.finish();
  }
}

function dialogueLines(dialogues: readonly Dialogue[]): string {
  return dialogues.map((dialogue) => `${JSON.stringify(dialogue)}\n`).join('');
}
