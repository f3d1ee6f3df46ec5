/** `kgwalk datasets get`: a release from where it lies, imported. */
import type { Command } from 'commander';
import type { Release } from '../datasets/importer.js';
import { printJson, printLine, printNote } from './output.js';

interface GetFlags {
  name?: string;
  import: boolean;
  json?: boolean;
}

/** Adds `datasets get`. */
export function registerGet(datasets: Command): void {
  datasets
    .command('get <release>')
    .description(
      'download a release and import it: opendialkg, pathquestion; for metaqa, webqsp and webquestions, say where to find them. An interrupted download continues where it stopped',
    )
    .option('--name <name>', 'name to import it under (default: the release)')
    .option('--no-import', 'only download')
    .option('--json', 'print the manifest as JSON')
    .action(getRelease);
}

async function getRelease(wanted: string, { name, import: imported, json }: GetFlags): Promise<void> {
  const { downloadRelease, releaseOf } = await import('../datasets/importers.js');
  const release = releaseOf(wanted);
  if (release.byHand) return json ? printJson(release) : printSteps(release, release.byHand);
  const { terminalWork } = await import('./work.js');
  printNote(`${release.name} from ${release.page}\nlicence: ${release.licence}`);
  const folder = await downloadRelease(release, terminalWork());
  if (!imported) return json ? printJson({ folder }) : printLine(folder);
  const { importRelease } = await import('./datasets-import.js');
  await importRelease(release.name, { from: folder, name: name ?? release.name, labels: true, ...(json && { json }) });
  if (!json) printLine(`\nThe files stay at ${folder}; they may be deleted.`);
}

function printSteps({ name, about, licence, page }: Release, steps: readonly string[]): void {
  printLine(`${name}: ${about} · licence: ${licence}`);
  printLine(`It cannot be downloaded by a program. Its page: ${page}`);
  for (const step of steps) printLine(`  ${step}`);
  printLine(`Then: kgwalk datasets import ${name} --from DIR`);
}
