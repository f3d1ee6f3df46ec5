/** Import of a custom graph with questions. */
import { WorkbenchError } from '../../src/run/errors.js';
import {
  type AnyImportOptions,
  type Importer,
  inSteps,
  collectTriples,
  requiredFile,
  separatorOf,
} from '../importer.js';
import type { QuestionManifest } from '../questions/question-manifest.js';
import { writeQuestionDataset } from '../questions/write-question-dataset.js';
import { type CustomGraph, readRdf } from './read-rdf.js';
import { readCustomQuestions } from './read-questions.js';

/**
 * Reads `triples.nt`, `.ttl`, `.tsv`, `.txt` or `.csv` (also `.gz`) and `questions.jsonl` of a folder. One subset `all`; splits as given
 * by the questions, else hash partitions.
 * @throws WorkbenchError `data` (file, every broken line), `usage` for a bad name, `failure` for disk errors
 */
export async function importCustom(options: AnyImportOptions): Promise<QuestionManifest> {
  const { from, name = 'custom', home, labels = true, progress } = options;
  const triples = requiredFile(from, tripleFiles, 'triples');
  const questions = requiredFile(from, ['questions.jsonl'], 'questions');
  return inSteps(progress, 3, async (done) => {
    const { graph, aliases, resolve, note } = await readCustomGraph(triples, labels);
    done('graph built');
    const files = readCustomQuestions(questions, { graph, resolve });
    done('questions read');
    const parts = {
      ...{ name, format: 'custom', licence: 'as its source says', aliases, sources: [triples, questions] },
      graphs: [{ graph, note }],
      subsets: [{ name: 'all', graph: graph.name, files }],
    };
    return writeQuestionDataset(parts, home);
  });
}

/** Entry of `importers.ts`. */
export const custom: Importer<'questions'> = { name: 'custom', kind: 'questions', import: importCustom };

/** Candidate file names; the first existing one is read. */
const tripleFiles: readonly string[] = ['nt', 'ttl', 'tsv', 'txt', 'csv'].flatMap((extension) => [
  `triples.${extension}`,
  `triples.${extension}.gz`,
]);

/**
 * Reads N-Triples (`.nt`), Turtle (`.ttl`) or `head TAB relation TAB tail`, separated by `|` if the first line has no TAB. Inverses are
 * added unless some relation starts with `~`.
 * @param labels of RDF: use `rdfs:label` and `skos:prefLabel` as names and `skos:altLabel` as aliases, not as edges
 * @throws WorkbenchError `data` that lists every broken line, or if there are no triples
 */
export async function readCustomGraph(file: string, labels: boolean): Promise<CustomGraph> {
  const read = /\.(nt|ttl)(\.gz)?$/.test(file) ? await readRdf(file, labels) : await readDelimited(file);
  if (read.graph.numEdges > 0) return read;
  throw new WorkbenchError('data', `expected triples, got none, at ${file}`, {
    hint: 'Each line is head, relation and tail separated by TAB or |, or an RDF statement (.nt, .ttl).',
  });
}

async function readDelimited(file: string): Promise<CustomGraph> {
  const builder = await collectTriples(file, await separatorOf(file));
  const addInverses = !builder.hasInverses;
  return {
    graph: builder.build('graph', { addInverses }),
    aliases: new Map(),
    resolve: (name) => name,
    note: addInverses ? 'inverses (~relation) were added' : 'has its own inverses (~relation)',
  };
}
