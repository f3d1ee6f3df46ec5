/** Storing question data sets, for all importers. */
import { join } from 'node:path';
import { writeGraphFile } from '../../src/kg/graph-file.js';
import type { Graph } from '../../src/kg/graph.js';
import { WorkbenchError } from '../../src/run/errors.js';
import { writeFileAtomic } from '../../src/run/files.js';
import { printable } from '../../src/run/printable.js';
import { describeGraph, describeSources, graphFileName, jsonLines, writeDataset } from '../imported-dataset.js';
import { lookAlikes, noted, notFound } from '../import-notes.js';
import { groupedByText, sharedBySplits } from './repeated-questions.js';
import {
  aliasFileName,
  questionFileName,
  type QuestionManifest,
  questionManifestSchema,
  splitsOf,
} from './question-manifest.js';
import { isWithin, type StoredQuestion } from './stored-question.js';

/** Content of one release file. */
export interface ImportedFile {
  questions: readonly StoredQuestion[];
  /** Dropped items by reason. Default none. */
  dropped?: Readonly<Record<string, number>>;
}

/** Result of an importer. */
export interface QuestionDatasetParts {
  /** Folder name of the data set. */
  name: string;
  format: string;
  licence: string;
  /** Default none; see `QuestionManifest`. */
  labels?: QuestionManifest['labels'];
  /** By name: letters, digits, `-` and `_`. Inverses (`~relation`) must be included. */
  graphs: readonly { graph: Graph; note: string }[];
  subsets: readonly {
    /** Such as `2-hop`: the part after the slash of `metaqa/2-hop`. */
    name: string;
    graph: string;
    /** By release file: `train`, `dev` or `valid`, `test`; `all` for a release without splits. */
    files: Readonly<Record<string, ImportedFile>>;
  }[];
  /** True if gold chains may return to their topics; `kgwalk datasets stats` shows both rules. Default false. */
  topicsReturn?: boolean;
  /** Hash partition of questions of one text: together, or as published, each by its id. Default `together`. */
  partition?: 'together' | 'published';
  /** Question types that the hold-out `type` keeps for test. Default none: not offered. */
  heldTypes?: readonly string[];
  /** Further names of entities, by graph name. */
  aliases?: ReadonlyMap<string, readonly string[]>;
  /** Further sentences for the report of the import. Default none. */
  notes?: readonly string[];
  sources: readonly string[];
  /** For generated data sets. */
  generated?: QuestionManifest['generated'];
}

/**
 * Writes `<home>/datasets/<name>/`: `dataset.json`, `questions.<subset>.<file>.jsonl`, `graph-<graph>.bin` and, if there are any,
 * `aliases.jsonl`. An existing data set of that name is replaced after success; nothing is written for bad data. An importer reads its
 * release, builds graphs (`GraphBuilder.build(name, { addInverses: true })` if the source has one direction), makes a `StoredQuestion` of
 * every item, counts dropped items by reason, and calls this. Questions with topics or answers missing from the graph should not be
 * dropped: they are counted here, and scored 0. Questions of one text get one `group`, so that no partition splits them.
 * @param home default `KGWALK_HOME`
 * @throws WorkbenchError `data` for no question at all, repeated ids, or spans outside their question; `usage` for a bad name
 */
export async function writeQuestionDataset(parts: QuestionDatasetParts, home?: string): Promise<QuestionManifest> {
  checkQuestions(parts);
  const groups = groupedByText(questionsOf(parts.subsets), parts.partition);
  const fill = (folder: string) => {
    for (const { graph } of parts.graphs) writeGraphFile(join(folder, graphFileName(graph.name)), graph);
    for (const { name, files } of parts.subsets) {
      for (const [file, { questions }] of Object.entries(files)) {
        writeFileAtomic(join(folder, questionFileName(name, file)), jsonLines(questions.map(groups.grouped)));
      }
    }
    const aliases = [...(parts.aliases ?? [])].map(([entity, names]) => ({ entity, names }));
    if (aliases.length > 0) writeFileAtomic(join(folder, aliasFileName), jsonLines(aliases));
  };
  return writeDataset(parts.name, home, fill, (written) => describe(parts, groups, written));
}

async function describe(
  parts: QuestionDatasetParts,
  { grouped, notes }: ReturnType<typeof groupedByText>,
  written: Record<string, string>,
): Promise<QuestionManifest> {
  const graphs = new Map(parts.graphs.map(({ graph }) => [graph.name, graph]));
  const { name, format, licence, labels = [], heldTypes = [] } = parts;
  const subsets = Object.fromEntries(
    parts.subsets.map(({ name, graph, files }) => {
      const counted = Object.entries(files).map(([file, one]) => [file, countFile(one, graphs.get(graph)!)] as const);
      return [name, { graph, files: Object.fromEntries(counted) }];
    }),
  );
  const splits = splitsOf({ subsets, heldTypes: [...heldTypes] });
  return questionManifestSchema.parse({
    ...{ schemaVersion: 1, kind: 'questions', name, format, licence, labels, subsets },
    graphs: Object.fromEntries(parts.graphs.map(({ graph, note }) => [graph.name, describeGraph(graph, note)])),
    topicsReturn: parts.topicsReturn ?? false,
    heldTypes,
    notes: noted([
      ...(parts.notes ?? []),
      ...notes,
      ...parts.subsets.flatMap(({ files }) => sharedBySplits(splits, files, grouped)),
      ...parts.graphs.flatMap(({ graph }) => [
        ...lookAlikes(graph),
        ...notFound(questionsOf(parts.subsets.filter((one) => one.graph === graph.name)), graph),
      ]),
    ]),
    sources: await describeSources(parts.sources),
    files: written,
    generated: parts.generated,
  });
}

const questionsOf = (subsets: QuestionDatasetParts['subsets']) =>
  subsets.flatMap(({ files }) => Object.values(files).flatMap(({ questions }) => questions));

function countFile({ questions, dropped = {} }: ImportedFile, graph: Graph) {
  const unknown = ({ name }: { name: string }) => graph.entityId(name) < 0;
  return {
    questions: questions.length,
    dropped,
    topicsNotInGraph: questions.filter(({ topics }) => topics.every(unknown)).length,
    answersNotInGraph: questions.reduce((sum, { answers }) => sum + answers.filter(unknown).length, 0),
  };
}

function checkQuestions({ name, subsets }: QuestionDatasetParts): void {
  const seen = new Set<string>();
  const bad = (expected: string, { id }: StoredQuestion) =>
    new WorkbenchError('data', `expected ${expected}, at question "${printable(id, 80)}" of ${name}`, {
      hint: 'Correct the file it comes from.',
    });
  for (const question of questionsOf(subsets)) {
    if (seen.has(question.id)) throw bad('ids that differ, got one twice', question);
    seen.add(question.id);
    for (const { span } of question.topics) {
      if (span && !isWithin(span, question.question)) {
        throw bad(`a topic's place within the question, got [${span.join(', ')})`, question);
      }
    }
  }
  if (seen.size === 0) {
    throw new WorkbenchError('data', `expected questions, got none, at data set ${name}`, {
      hint: 'Check that the folder holds the files of this format.',
    });
  }
}
