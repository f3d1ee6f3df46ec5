/** Data sets of every kind by name: which there are, of what kind one is, and whether it is still what was imported. */
import { WorkbenchError } from '../src/run/errors.js';
import { checkDialogueDataset, type DialogueManifest, dialogueManifestSchema } from './dialogues/dialogue-dataset.js';
import {
  type DatasetCheck,
  type DatasetKind,
  datasetKind,
  importedNames,
  type LocateOptions,
  openImported,
} from './imported-dataset.js';
import { checkLinkDataset, type LinkManifest, linkManifestSchema } from './links/link-dataset.js';
import { checkQuestionDataset, parseDatasetName } from './questions/question-dataset.js';
import { type QuestionManifest, questionManifestSchema } from './questions/question-manifest.js';

/** The manifest of each kind. */
export interface Manifests {
  dialogues: DialogueManifest;
  questions: QuestionManifest;
  links: LinkManifest;
}

const kinds: { readonly [K in DatasetKind]: KindOfDataset<K> } = {
  dialogues: {
    manifest: (name, options) => openImported(name, 'dialogues', dialogueManifestSchema, options).manifest,
    check: checkDialogueDataset,
  },
  questions: {
    manifest: (name, options) => openImported(name, 'questions', questionManifestSchema, options).manifest,
    check: checkQuestionDataset,
  },
  links: {
    manifest: (name, options) => openImported(name, 'links', linkManifestSchema, options).manifest,
    check: checkLinkDataset,
  },
};

interface KindOfDataset<K extends DatasetKind> {
  manifest(name: string, options: LocateOptions): Manifests[K];
  check(name: string, options: LocateOptions): Promise<DatasetCheck>;
}

/**
 * Manifests of all imported data sets of these kinds, sorted by the names of their folders. A folder whose manifest cannot be read is
 * left out.
 * @param wanted default all
 */
export function listDatasets<K extends DatasetKind = DatasetKind>(
  wanted: readonly K[] = Object.keys(kinds) as K[],
  options: LocateOptions = {},
): Manifests[K][] {
  return importedNames(options).flatMap((name) => {
    try {
      const kind = datasetKind(name, options) as K;
      return wanted.includes(kind) ? [kinds[kind].manifest(name, options)] : [];
    } catch (error) {
      if (error instanceof WorkbenchError) return [];
      throw error;
    }
  });
}

/**
 * What kind a data set is of.
 * @param text its name, for questions also `NAME/SUBSET,SUBSET`
 * @throws WorkbenchError `data` when there is none of that name
 */
export function kindOf(text: string, options: LocateOptions = {}): DatasetKind {
  return datasetKind(parseDatasetName(text).name, options);
}

/**
 * Compares files, hashes and counts with the manifest.
 * @throws WorkbenchError `data` when no such data set was imported, or its manifest cannot be read
 */
export async function checkDataset(name: string, options: LocateOptions = {}): Promise<DatasetCheck> {
  return kinds[datasetKind(name, options)].check(name, options);
}
