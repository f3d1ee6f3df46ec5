/** Data sets of every kind by name: which there are, of what kind one is, loading, describing and checking it. */
import { WorkbenchError } from '../src/run/errors.js';
import {
  checkDialogueDataset,
  type DialogueDataset,
  type DialogueManifest,
  dialogueManifestSchema,
  loadDialogueDataset,
} from './dialogues/dialogue-dataset.js';
import { dialogueStatistics, type DialogueStatistics } from './dialogues/dialogue-statistics.js';
import {
  type DatasetCheck,
  datasetKind,
  type DatasetKind,
  importedNames,
  type LocateOptions,
  openImported,
} from './imported-dataset.js';
import {
  checkLinkDataset,
  type LinkDataset,
  type LinkManifest,
  linkManifestSchema,
  loadLinkDataset,
} from './links/link-dataset.js';
import { linkStatistics, type LinkStatistics } from './links/link-statistics.js';
import {
  checkQuestionDataset,
  loadQuestionDataset,
  parseDatasetName,
  type QuestionDataset,
} from './questions/question-dataset.js';
import { type QuestionManifest, questionManifestSchema } from './questions/question-manifest.js';
import { questionStatistics, type QuestionStatistics } from './questions/question-statistics.js';

/** What there is of each kind. */
export interface DatasetTypes {
  dialogues: { dataset: DialogueDataset; manifest: DialogueManifest; statistics: DialogueStatistics };
  questions: { dataset: QuestionDataset; manifest: QuestionManifest; statistics: QuestionStatistics };
  links: { dataset: LinkDataset; manifest: LinkManifest; statistics: LinkStatistics };
}

/** Which part of a data set is described. */
export interface DescribeOptions extends LocateOptions {
  /** Of dialogues: which graph. Default `dialogue`. */
  graph?: string;
}

/** One kind of data set. `text` is its name, for questions also `NAME/SUBSET,SUBSET`. */
export interface KindOfDataset<K extends DatasetKind> {
  /** The manifest alone. */
  manifest(name: string, options?: LocateOptions): DatasetTypes[K]['manifest'];
  load(text: string, options?: LocateOptions): Promise<DatasetTypes[K]['dataset']>;
  /** Sizes, difficulty, coverage; takes seconds. */
  statistics(text: string, options?: DescribeOptions): Promise<DatasetTypes[K]['statistics']>;
  /** Whether it is still what was imported. */
  check(name: string, options?: LocateOptions): Promise<DatasetCheck>;
}

/** The three kinds. All of them throw WorkbenchError `data` for a data set that is not there, is of another kind, or is damaged. */
export const kindsOfDatasets: { readonly [K in DatasetKind]: KindOfDataset<K> } = {
  dialogues: {
    manifest: (name, options) => openImported(name, 'dialogues', dialogueManifestSchema, options).manifest,
    load: async (name, options) => loadDialogueDataset(name, options),
    statistics: async (name, { graph, ...where } = {}) => dialogueStatistics(loadDialogueDataset(name, where), graph),
    check: checkDialogueDataset,
  },
  questions: {
    manifest: (name, options) => openImported(name, 'questions', questionManifestSchema, options).manifest,
    load: async (text, options) => loadQuestionDataset(parseDatasetName(text).name, options),
    statistics: async (text, options) => {
      const { name, subsets } = parseDatasetName(text);
      return questionStatistics(loadQuestionDataset(name, options), subsets);
    },
    check: checkQuestionDataset,
  },
  links: {
    manifest: (name, options) => openImported(name, 'links', linkManifestSchema, options).manifest,
    load: loadLinkDataset,
    statistics: async (name, options) => linkStatistics(await loadLinkDataset(name, options)),
    check: checkLinkDataset,
  },
};

/**
 * Manifests of all imported data sets of these kinds, sorted by the names of their folders. A folder whose manifest cannot be read is
 * left out.
 */
export function listDatasets<K extends DatasetKind = DatasetKind>(
  kinds: readonly K[] = Object.keys(kindsOfDatasets) as K[],
  options: LocateOptions = {},
): DatasetTypes[K]['manifest'][] {
  return importedNames(options).flatMap((name) => {
    try {
      const kind = datasetKind(name, options) as K;
      return kinds.includes(kind) ? [kindsOfDatasets[kind].manifest(name, options)] : [];
    } catch (error) {
      if (error instanceof WorkbenchError) return [];
      throw error;
    }
  });
}

/** What kind a data set is of. @param text as `KindOfDataset` takes it @throws WorkbenchError `data` when there is none of that name */
export function kindOf(text: string, options: LocateOptions = {}): DatasetKind {
  return datasetKind(parseDatasetName(text).name, options);
}

/** A data set of whatever kind. @throws as `kindsOfDatasets` */
export async function loadDataset(
  text: string,
  options: LocateOptions = {},
): Promise<DatasetTypes[DatasetKind]['dataset']> {
  return kindsOfDatasets[kindOf(text, options)].load(text, options);
}

/** Compares files, hashes and counts with the manifest. @throws as `kindsOfDatasets` */
export async function checkDataset(name: string, options: LocateOptions = {}): Promise<DatasetCheck> {
  return kindsOfDatasets[datasetKind(name, options)].check(name, options);
}
