/** Import formats, and download of public releases. */
import { join } from 'node:path';
import { downloadFile, type DownloadOptions } from '../src/run/download.js';
import { WorkbenchError } from '../src/run/errors.js';
import { confined, kgwalkHome } from '../src/run/locations.js';
import { nearestName, printable } from '../src/run/printable.js';
import { custom } from './custom/import.js';
import type { Importer } from './importer.js';
import { triples } from './links/import-links.js';
import { metaqa } from './metaqa/import.js';
import { mooc } from './mooc/import.js';
import { opendialkg } from './opendialkg/import.js';
import { pathquestion } from './pathquestion/import.js';
import { rog } from './rog/import.js';
import { type Release, releases } from './releases.js';
import { webqsp } from './webqsp/import.js';
import { webquestions } from './webquestions/import.js';

/** One folder and one entry per format. Plugin formats are appended. */
export const importers: Importer[] = [
  ...[opendialkg, metaqa, pathquestion, webqsp, webquestions, mooc],
  ...[rog, custom, triples],
];

/** Registers a custom format for `datasets import`. @throws WorkbenchError `usage` if the name is taken */
export function registerImporter(importer: Importer): void {
  const { name } = importer;
  if (importers.some((one) => one.name === name)) {
    throw new WorkbenchError('usage', `expected the name of a new format, got "${name}", which is registered already`);
  }
  importers.push(importer);
}

/** @throws WorkbenchError `usage` that lists the formats */
export function importerOf(format: string): Importer {
  const found = importers.find(({ name }) => name === format);
  if (found) return found;
  const formats = importers.map(({ name }) => name).join(', ');
  throw new WorkbenchError('usage', `expected a format (${formats}), got "${printable(format, 80)}"`, {
    hint: 'Other data in the shape of one of these: import it as that format, with --name NAME.',
  });
}

/** @throws WorkbenchError `usage` that names the nearest release */
export function releaseOf(name: string): Release {
  const found = releases.find((release) => release.name === name);
  if (found) return found;
  const names = releases.map((release) => release.name);
  const near = nearestName(name, names);
  throw new WorkbenchError('usage', `expected the name of a release, got ${JSON.stringify(name)}`, {
    hint: `${near === undefined ? '' : `Did you mean "${near}"? `}Releases: ${names.join(', ')}. The demo data: kgwalk datasets demo.`,
  });
}

/** Downloads a release into `<home>/downloads/<name>`, skipping existing files. @returns the folder @throws as `downloadFile` */
export async function downloadRelease(
  { name, files }: Release,
  { home = kgwalkHome(), ...options }: Pick<DownloadOptions, 'progress' | 'signal'> & { home?: string } = {},
): Promise<string> {
  const folder = join(home, 'downloads', name);
  for (const { name: file, ...source } of files) {
    await downloadFile({ ...source, ...options, file: confined(folder, file), label: file });
  }
  return folder;
}
