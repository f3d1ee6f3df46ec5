/** Finds runs, evaluations and sweeps and gives each a key: requests to `kgwalk serve` name keys only, so no name leads outside. */
import { lstatSync, readdirSync, realpathSync, type Stats } from 'node:fs';
import { basename, join, relative } from 'node:path';
import { WorkbenchError } from './errors.js';
import { evaluationFiles, runFiles } from './run-files.js';

/** A folder that was found. */
export interface Place {
  /** Path from the given root with forward slashes; for a root itself, its own name. */
  key: string;
  kind: 'run' | 'evaluation' | 'sweep';
  /** Absolute path without links. */
  folder: string;
  /** Key of the run or sweep that contains it. */
  within?: string | undefined;
}

/** Maximum depth, and maximum folders in total: bounds the search under a mistaken root such as `/`. */
const deepest = 4;
const most = 20_000;

const marks: readonly (readonly [kind: Place['kind'], file: string])[] = [
  ['run', basename(runFiles('').config)],
  ['evaluation', basename(evaluationFiles('').asked)],
  ['evaluation', basename(evaluationFiles('').evaluation)],
  ['sweep', 'sweep.json'],
];

/**
 * All of them under some roots by key, in name order. Symbolic links are not followed.
 * @param roots run folders, or folders that contain some; a missing one is empty
 */
export function findPlaces(roots: readonly string[]): Map<string, Place> {
  const places = new Map<string, Place>();
  let looked = 0;

  const look = (folder: string, key: string, depth: number, within?: Place): void => {
    if (++looked > most) return;
    const kind = marks.find(([, file]) => plainFile(join(folder, file)))?.[0];
    const place = kind && { key: unused(key === '' ? basename(folder) : key), kind, folder, within: within?.key };
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

/** An entry of a listing, under its path from the listed folder, or the reason why it cannot be read. */
export type Listed<Info> = Info | { id: string; folder: string; problem: string };

/** The runs or the sweeps below a folder in name order, without those of other runs and sweeps there. */
export function listPlaces<Info>(root: string, kind: Place['kind'], read: (folder: string) => Info): Listed<Info>[] {
  const top = realFolder(root) ?? '';
  const all = [...findPlaces([root]).values()];
  const around = all.find(({ folder }) => folder === top)?.key;
  const listed = all.filter(({ folder, within }) => (folder === top ? kind === 'run' : within === around));
  return listed.flatMap((place): Listed<Info>[] => {
    if (place.kind !== kind) return [];
    const { folder } = place;
    const id = relative(top, folder) || basename(folder);
    try {
      return [{ ...read(folder), id }];
    } catch (error) {
      if (!(error instanceof WorkbenchError)) throw error;
      return [{ id, folder, problem: error.message }];
    }
  });
}

/** Size and modification time of a regular file; undefined for links. */
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

/** Folders may appear, disappear or be unreadable during the search. */
function foldersIn(folder: string): string[] {
  try {
    const entries = readdirSync(folder, { withFileTypes: true });
    return entries.flatMap((entry) => (entry.isDirectory() && !entry.name.startsWith('.') ? [entry.name] : [])).sort();
  } catch {
    return [];
  }
}

/** @throws WorkbenchError `data` if one of the files is a link; missing files are ignored */
export function refuseLinks(files: readonly string[]): void {
  const link = files.find((file) => lstatSync(file, { throwIfNoEntry: false })?.isSymbolicLink());
  if (link === undefined) return;
  throw new WorkbenchError('data', `expected a file, got a link, at ${link}`, {
    hint: 'Links are not followed: copy the file there.',
  });
}
