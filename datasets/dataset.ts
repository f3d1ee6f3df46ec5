/** Data sets of all kinds by name: listing, kind lookup, integrity check. */
import type { z } from 'zod';
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

/** Manifest type of each kind. */
export type Manifests = { dialogues: DialogueManifest; questions: QuestionManifest; links: LinkManifest };

const schemas: { readonly [K in DatasetKind]: z.ZodType<Manifests[K]> } = {
  dialogues: dialogueManifestSchema,
  questions: questionManifestSchema,
  links: linkManifestSchema,
};
const checks = { dialogues: checkDialogueDataset, questions: checkQuestionDataset, links: checkLinkDataset };

/**
 * Manifests of all imported data sets of these kinds, sorted by folder name. Folders with an unreadable manifest are skipped.
 * @param wanted default all
 */
export function listDatasets<K extends DatasetKind = DatasetKind>(
  wanted: readonly K[] = Object.keys(schemas) as K[],
  options: LocateOptions = {},
): Manifests[K][] {
  return importedNames(options).flatMap((name) => {
    try {
      const kind = datasetKind(name, options) as K;
      return wanted.includes(kind) ? [openImported(name, kind, schemas[kind], options).manifest] : [];
    } catch (error) {
      if (error instanceof WorkbenchError) return [];
      throw error;
    }
  });
}

/** Kind of a data set. @param text its name, for questions also `NAME/SUBSET,SUBSET` @throws WorkbenchError `data` for an unknown name */
export function kindOf(text: string, options: LocateOptions = {}): DatasetKind {
  return datasetKind(parseDatasetName(text).name, options);
}

/** Compares files, hashes and counts with the manifest. @throws WorkbenchError `data` for an unknown data set or an unreadable manifest */
export async function checkDataset(name: string, options: LocateOptions = {}): Promise<DatasetCheck> {
  return checks[datasetKind(name, options)](name, options);
}
