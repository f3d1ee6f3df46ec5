/** Question data sets by name: loading and splits. */
import { type Graph, inverseName } from '../../src/kg/graph.js';
import { WorkbenchError } from '../../src/run/errors.js';
import { printable } from '../../src/run/printable.js';
import { madeFrom } from '../../src/run/provenance.js';
import { Rng } from '../../src/run/seeds.js';
import {
  checkImported,
  type DatasetCheck,
  type ImportedDataset,
  type LocateOptions,
  openImported,
  readImportedGraph,
  readImportedLines,
} from '../imported-dataset.js';
import type { QuestionSample } from '../question.js';
import {
  aliasFileName,
  drawOfTypes,
  findSplit,
  type HoldOut,
  questionFileName,
  type QuestionManifest,
  questionManifestSchema,
  type QuestionSplit,
  splitsOf,
} from './question-manifest.js';
import { sharedBySplits } from './repeated-questions.js';
import { aliasesSchema, sampleOf, type StoredQuestion, storedQuestionSchema } from './stored-question.js';

/** Selection of questions. */
export interface SelectQuestions {
  /** Default all. */
  subsets?: readonly string[];
  /** Split name (`dev-valid`, `template-test`) or role: `train`, `valid`, `test`. Default the validation split. */
  split?: string;
  /** Restricts `split` to one kind of partition: `{ split: 'test', holdOut: 'template' }`. Default `question` for a role. */
  holdOut?: HoldOut;
}

/** An imported question data set. */
export interface QuestionDataset extends ImportedDataset<QuestionManifest> {
  /** Subset names in import order. */
  subsets: readonly string[];
  /** All splits, hold-outs included. @param holdOut a draw of types (`type:3`) instead of the data set's held types */
  splits(holdOut?: HoldOut): QuestionSplit[];
  /** @throws WorkbenchError `usage` for an unknown split */
  split(select?: Pick<SelectQuestions, 'split' | 'holdOut'>): QuestionSplit;
  /**
   * Loads the graph of these subsets from disk at each call; keep it.
   * @param subsets default all
   * @throws WorkbenchError `usage` for unknown subsets or subsets with several graphs, `data` for a damaged file
   */
  loadGraph(subsets?: readonly string[]): Promise<Graph>;
  /** Further names by entity id, for `NameIndex`; empty if the data set has none. */
  aliases(graph: Graph): ReadonlyMap<number, readonly string[]>;
  /**
   * Questions with the ids of `graph`, in the order of subsets, then of the release.
   * @param graph from `loadGraph` with the same subsets
   * @throws WorkbenchError `usage` for an unknown subset or split, `data` for another graph or a damaged file
   */
  questions(graph: Graph, select?: SelectQuestions): QuestionSample[];
  /** The stored questions of one file of one subset. @throws WorkbenchError `data` for a damaged file */
  storedQuestions(subset: string, file: string): StoredQuestion[];
}

/**
 * @param name without a subset; see `parseDatasetName`
 * @throws WorkbenchError `data` for an unknown data set, one of another kind, or an unreadable manifest
 */
export function loadQuestionDataset(name: string, options: LocateOptions = {}): QuestionDataset {
  const { manifest, folder } = openImported(name, 'questions', questionManifestSchema, options);
  const subsets = Object.keys(manifest.subsets);
  const storedQuestions = (subset: string, file: string) =>
    readImportedLines(folder, questionFileName(subset, file), manifest.files, storedQuestionSchema);
  const drawnBy = (holdOutOrSplit: string | undefined) => {
    const draw = drawOfTypes(holdOutOrSplit);
    if (draw === undefined) return undefined;
    const all = Object.entries(manifest.subsets).flatMap(([subset, { files }]) =>
      Object.keys(files).flatMap((file) => storedQuestions(subset, file)),
    );
    return { draw, types: drawHeldTypes(all, draw) };
  };
  const find = ({ split, holdOut }: Pick<SelectQuestions, 'split' | 'holdOut'> = {}) =>
    findSplit(manifest, split, holdOut, drawnBy(holdOut) ?? drawnBy(split));
  return {
    manifest,
    folder,
    subsets,
    splits: (holdOut) => splitsOf(manifest, drawnBy(holdOut)),
    split: find,
    loadGraph: async (wanted = subsets) => {
      const graph = graphOf(manifest, wanted);
      const { hash, triples, madeFrom: files } = manifest.graphs[graph]!;
      const { labels } = manifest;
      madeFrom('edge list', `graph ${graph}`, { hash, triples, labels, ...(files && { files }) });
      return readImportedGraph(folder, graph, hash);
    },
    aliases: (graph) => {
      if (!Object.hasOwn(manifest.files, aliasFileName)) return new Map();
      const lines = readImportedLines(folder, aliasFileName, manifest.files, aliasesSchema);
      return new Map(lines.map(({ entity, names }) => [graph.entityId(entity), names]));
    },
    questions: (graph, { subsets: wanted = subsets, split, holdOut } = {}) => {
      const expected = manifest.graphs[graphOf(manifest, wanted)]!;
      if (graph.hash !== expected.hash) {
        throw new WorkbenchError('data', `expected the graph of ${name}, got another ("${graph.name}")`, {
          hint: 'Import the data set again, or use the graph returned by loadGraph.',
        });
      }
      const { has } = find({ split, holdOut });
      return wanted.flatMap((subset) =>
        Object.keys(manifest.subsets[subset]!.files).flatMap((file) =>
          storedQuestions(subset, file)
            .filter((question) => has(question, file))
            .map((question) => sampleOf(question, subset, graph, manifest.topicsReturn)),
        ),
      );
    },
    storedQuestions,
  };
}

/** `metaqa/2-hop` → data set `metaqa` and its subset; `metaqa` means all subsets. */
export function parseDatasetName(text: string): { name: string; subsets?: readonly string[] } {
  const slash = text.indexOf('/');
  return slash < 0 ? { name: text } : { name: text.slice(0, slash), subsets: text.slice(slash + 1).split(',') };
}

function graphOf({ name, subsets }: QuestionManifest, wanted: readonly string[]): string {
  const names = Object.keys(subsets).join(', ');
  for (const subset of wanted) {
    if (Object.hasOwn(subsets, subset)) continue;
    throw new WorkbenchError('usage', `expected a subset of ${name} (${names}), got "${printable(subset, 80)}"`, {
      hint: `Write it after a slash: ${name}/${Object.keys(subsets)[0]}`,
    });
  }
  const graphs = [...new Set(wanted.map((subset) => subsets[subset]!.graph))];
  if (graphs.length === 1) return graphs[0]!;
  throw new WorkbenchError('usage', `expected subsets of one graph, got ${wanted.join(', ') || 'none'} of ${name}`, {
    hint: `Each has a separate graph: choose one of ${names}, such as ${name}/${Object.keys(subsets)[0]}`,
  });
}

/** Compares files, hashes and counts with the manifest; notes texts that several splits have. @throws WorkbenchError `data` for an unknown data set or an unreadable manifest */
export async function checkQuestionDataset(name: string, options: LocateOptions = {}): Promise<DatasetCheck> {
  const dataset = loadQuestionDataset(name, options);
  const { subsets, graphs } = dataset.manifest;
  return checkImported(dataset, async (expectEqual, notes) => {
    for (const [subset, { graph: name, files }] of Object.entries(subsets)) {
      const stored = Object.keys(files).map(
        (file) => [file, { questions: dataset.storedQuestions(subset, file) }] as const,
      );
      notes.push(...sharedBySplits(dataset.splits(), Object.fromEntries(stored)).map((note) => `${subset}: ${note}`));
      const graph = await dataset.loadGraph([subset]);
      expectEqual(`graph ${name} of hash`, graphs[name]?.hash, graph.hash);
    }
  });
}

/** One in this many types per number of relations is held out, rounded: of MetaQA's 21 and 15 five and four. */
const heldShare = 4;

/**
 * Set of held-out types such that train still has every relation at every chain position. Never held: types of one relation, and those
 * that return (`directed_by`, `~directed_by`), as they are no new compositions.
 * @param questions all of a data set; a type's chain is that of its first question with one
 * @param seed of the draw alone: the same set for every run
 * @returns sorted by name
 * @throws WorkbenchError `usage` if questions have no types with chains, or too few
 */
export function drawHeldTypes(questions: Iterable<StoredQuestion>, seed: number): string[] {
  const chainOf = new Map<string, readonly string[]>();
  for (const { type, chains } of questions) {
    if (type !== undefined && chains?.[0] && !chainOf.has(type)) chainOf.set(type, chains[0]);
  }
  const types = [...chainOf.keys()].sort();
  const placesOf = (type: string) => chainOf.get(type)!.map((relation, index) => `${index} ${relation}`);
  const shown = new Map<string, number>();
  for (const place of types.flatMap(placesOf)) shown.set(place, (shown.get(place) ?? 0) + 1);

  const held: string[] = [];
  for (const length of [...new Set([...chainOf.values()].map((chain) => chain.length))].sort((a, b) => a - b)) {
    const all = types.filter((type) => chainOf.get(type)!.length === length);
    const order = Rng.named(seed, 'questions/held-types', length).shuffle(Int32Array.from(all.keys()));
    const most = length === 1 ? 0 : Math.round(all.length / heldShare);
    let taken = 0;
    for (const type of Array.from(order, (i) => all[i]!)) {
      const [first, second] = chainOf.get(type)!;
      const returns = length === 2 && second === inverseName(first!);
      if (taken === most || returns || placesOf(type).some((place) => shown.get(place) === 1)) continue;
      for (const place of placesOf(type)) shown.set(place, shown.get(place)! - 1);
      held.push(type);
      taken++;
    }
  }
  if (held.length > 0) return held.sort();
  throw new WorkbenchError(
    'usage',
    `expected question types with chains of several relations that can be held out, got ${types.length} types`,
    { hint: 'Hold out templates: --hold-out template, or data.holdOut=template.' },
  );
}
