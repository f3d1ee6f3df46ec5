/** What lies in the folders that are served, each under a key: nothing else can be asked for, so no name leads elsewhere. */
import { lstatSync, readdirSync, realpathSync, type Stats } from 'node:fs';
import { basename, join } from 'node:path';
import { WorkbenchError } from '../src/run/errors.js';
import { evaluationFiles, runFiles } from '../src/run/run-folder.js';

/** A folder that is shown. */
export interface Place {
  /** Its path from the folder that was named, with forward slashes; of one that was named itself its own name. */
  key: string;
  kind: 'run' | 'evaluation' | 'sweep';
  /** Absolute, without links. */
  folder: string;
  /** Key of the run or sweep that it lies in. */
  within?: string;
}

/** Folders within folders that are looked into, and folders in all: what is named by mistake, such as `/`, ends. */
const deepest = 4;
const most = 20_000;

const marks: readonly (readonly [kind: Place['kind'], file: string])[] = [
  ['run', basename(runFiles('').config)],
  ['evaluation', basename(evaluationFiles('').asked)],
  ['evaluation', basename(evaluationFiles('').evaluation)],
  ['sweep', 'sweep.json'],
];

/**
 * Everything that is to be shown under some folders, by key, in the order of names. Links are not followed, be they folders or
 * files: what lies elsewhere is served where its own folder is named.
 * @param roots run folders, or folders that hold some; one that is missing holds nothing
 */
export function findPlaces(roots: readonly string[]): Map<string, Place> {
  const places = new Map<string, Place>();
  let looked = 0;

  const look = (folder: string, key: string, depth: number, within?: Place): void => {
    if (++looked > most) return;
    const kind = marks.find(([, file]) => plainFile(join(folder, file)))?.[0];
    const place = kind && { key: unused(key === '' ? basename(folder) : key), kind, folder, ...withinOf(within) };
    if (place) places.set(place.key, place);
    if (kind === 'evaluation' || depth === deepest) return;
    const below = place?.kind === 'run' ? [basename(runFiles('').evaluations)] : foldersIn(folder);
    for (const name of below) {
      if (!isFolder(join(folder, name))) continue;
      const path = place ? `${place.key}/${name}` : key === '' ? name : `${key}/${name}`;
      look(join(folder, name), path, depth + 1, place ?? within);
    }
  };
  const unused = (key: string) => {
    let free = key;
    for (let n = 2; places.has(free); n++) free = `${key}~${n}`;
    return free;
  };
  const shown = new Set<string>();
  for (const root of roots) {
    const folder = realFolder(root);
    if (folder === undefined || shown.has(folder)) continue;
    shown.add(folder);
    look(folder, '', 0);
  }
  return places;
}

const withinOf = (place: Place | undefined) => (place ? { within: place.key } : {});

/** The file's size and time, where it is a file itself and no link to one. */
export function plainFile(file: string): Stats | undefined {
  const found = lstatSync(file, { throwIfNoEntry: false });
  return found?.isFile() ? found : undefined;
}

const isFolder = (folder: string) => lstatSync(folder, { throwIfNoEntry: false })?.isDirectory() ?? false;

function realFolder(folder: string): string | undefined {
  try {
    return realpathSync(folder);
  } catch {
    return undefined;
  }
}

/** Folders may come and go, or be closed to us, while they are looked at. */
function foldersIn(folder: string): string[] {
  try {
    const entries = readdirSync(folder, { withFileTypes: true });
    return entries.flatMap((entry) => (entry.isDirectory() && !entry.name.startsWith('.') ? [entry.name] : [])).sort();
  } catch {
    return [];
  }
}

/** @throws WorkbenchError `data` where one of the files is a link, which may lead anywhere; missing ones are let be */
export function refuseLinks(files: readonly string[]): void {
  const link = files.find((file) => lstatSync(file, { throwIfNoEntry: false })?.isSymbolicLink());
  if (link === undefined) return;
  throw new WorkbenchError('data', `expected a file, got a link, at ${link}`, {
    hint: 'Links are not followed: copy the file there.',
  });
}
