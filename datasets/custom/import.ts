/** Import of a custom graph with questions. */
import { WorkbenchError } from '../../src/run/errors.js';
import {
  type AnyImportOptions,
  collectTriples,
  firstFile,
  type Importer,
  type ImportReport,
  inSteps,
  repeatedNote,
  requiredFile,
  tripleOptions,
} from '../importer.js';
import type { QuestionManifest } from '../questions/question-manifest.js';
import { writeQuestionDataset } from '../questions/write-question-dataset.js';
import { layoutOf, type TripleSettings } from '../triple-layout.js';
import { type CustomGraph, readRdf } from './read-rdf.js';
import { readCustomQuestions } from './read-questions.js';

/**
 * Reads `triples.nt`, `.ttl`, `.tsv`, `.txt` or `.csv` (also `.gz`) and `questions.jsonl` of a folder. One subset `all`; splits as given
 * by the questions, else hash partitions.
 * @throws WorkbenchError `data` (file, every broken line), `usage` for a bad name, `failure` for disk errors
 */
export async function importCustom(options: AnyImportOptions): Promise<QuestionManifest> {
  const { from, name = 'custom', home, skipBroken, progress } = options;
  const alone = firstFile(from, [...tripleFiles, 'train.txt', 'train.tsv', 'train.csv']);
  const hint = alone && `A graph without questions: kgwalk datasets import triples --from ${from}`;
  const questions = requiredFile(from, ['questions.jsonl'], 'questions', hint);
  const triples = requiredFile(from, tripleFiles, 'triples');
  const report: ImportReport = { skipBroken, notes: [] };
  return inSteps(progress, 3, async (done) => {
    const { graph, aliases, resolve, note } = await readCustomGraph(triples, options, report);
    done('graph built');
    const files = readCustomQuestions(questions, { graph, aliases, resolve }, report);
    done('questions read');
    const parts = {
      ...{ name, format: 'custom', licence: 'as its source says', aliases, sources: [triples, questions] },
      graphs: [{ graph, note }],
      subsets: [{ name: 'all', graph: graph.name, files }],
      notes: report.notes,
    };
    return writeQuestionDataset(parts, home);
  });
}

/** Entry of `importers.ts`. */
export const custom: Importer<'questions'> = {
  name: 'custom',
  kind: 'questions',
  takes: ['labels', ...tripleOptions],
  import: importCustom,
};

/** Candidate file names; the first existing one is read. */
const tripleFiles: readonly string[] = ['nt', 'ttl', 'tsv', 'txt', 'csv'].flatMap((extension) => [
  `triples.${extension}`,
  `triples.${extension}.gz`,
]);

/**
 * Reads N-Triples (`.nt`), Turtle (`.ttl`) or delimited lines of head, relation and tail (`layoutOf`). Inverses are added unless some
 * relation starts with `~`.
 * @param options `labels`: use names in RDF as names and aliases (`readRdf`); default true
 * @throws WorkbenchError `data` that lists every broken line, or if there are no triples
 */
export async function readCustomGraph(
  file: string,
  { labels = true, ...given }: Pick<AnyImportOptions, 'labels' | keyof TripleSettings> = {},
  report: ImportReport = { notes: [] },
): Promise<CustomGraph> {
  const isRdf = /\.(nt|ttl)(\.gz)?$/.test(file);
  const read = isRdf ? await readRdf(file, labels, report) : await readDelimited(file, given, report);
  if (read.graph.numEdges > 0) return read;
  throw new WorkbenchError('data', `expected triples, got none, at ${file}`, {
    hint: 'Each line is head, relation and tail separated by TAB, |, comma, semicolon or space, or an RDF statement (.nt, .ttl).',
  });
}

async function readDelimited(file: string, given: TripleSettings, report: ImportReport): Promise<CustomGraph> {
  const builder = await collectTriples(file, (await layoutOf(file, given, report.notes)).read, report);
  const addInverses = !builder.hasInverses;
  const graph = builder.build('graph', { addInverses });
  const inverses = addInverses ? 'inverses (~relation) were added' : 'has its own inverses (~relation)';
  return {
    graph,
    aliases: new Map(),
    resolve: (name) => name,
    note: inverses + repeatedNote(builder, graph, addInverses ? 2 : 1),
  };
}
