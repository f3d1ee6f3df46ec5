/** Import of other programs' vectors as a table of a graph, usable like trained ones. */
import { existsSync } from 'node:fs';
import { writeCheckpoint } from '../../checkpoints/checkpoint.js';
import { partName } from '../../datasets/imported-dataset.js';
import { type KnownAnswers, knownAnswers } from '../../src/embedding/known-answers.js';
import { openNpy } from '../../src/embedding/npy.js';
import type { LinkMetrics } from '../../src/embedding/rank-links.js';
import { bilinearScorer, sidedLinkMetrics, transeScorer } from '../../src/embedding/scorers.js';
import { type EmbeddingTable, normalisedTable, type Norm } from '../../src/embedding/transe.js';
import { type Graph, inversePrefix, sampledTriples, type TripleColumns } from '../../src/kg/graph.js';
import { readLines } from '../../src/kg/read-lines.js';
import { WorkbenchError } from '../../src/run/errors.js';
import { sha256File } from '../../src/run/files.js';
import { Rng } from '../../src/run/seeds.js';
import { withInverses } from './transe/pretrain.js';
import { graphFacts } from './transe/triples.js';
import type { VectorTable } from './epochs.js';
import { importedFile, tableHeader, tableTensors, usualFolder } from './kept-table.js';

/** Models with a known scoring function. */
export const importedModels = ['transe', 'distmult', 'complex'] as const;

/** Matrix in a `.npy` file, and the names of its rows. */
interface NamedRows {
  vectors: string;
  /** One line per row, in order: a name, or the number of the row (from 0), a tab and the name, as in DGL-KE's files. */
  names: string;
}

/** Source of an import. */
export interface ImportTableOptions {
  /** Name for settings and agents. */
  name: string;
  model: (typeof importedModels)[number];
  /** For `transe`: its distance in training. Default the one that ranks better. */
  norm?: Norm;
  /** For `complex`: real parts and then imaginary ones, or both of each number in turn. Default the one that ranks better. */
  layout?: ComplexLayout;
  graph: Graph;
  /** Triples to rank, with all that are known. Default facts of the graph. */
  held?: { triples: TripleColumns; known: KnownAnswers };
  entities: NamedRows;
  relations: NamedRows;
  /** Default `embeddings` in `KGWALK_HOME`. */
  folder?: string;
}

export const complexLayouts = ['halves', 'pairs'] as const;
type ComplexLayout = (typeof complexLayouts)[number];

/** Result of an import. */
interface ImportedTable {
  file: string;
  dim: number;
  /** Rows of the file without an entity in the graph. */
  others: number;
  /** Entities of the graph without a row in the file: their vectors are drawn. */
  missing: number;
  /** Held triples or facts of the graph, drawn with a fixed seed, ranked in both directions with all that is known filtered. */
  metrics: LinkMetrics;
  /** Mean reciprocal rank of every way to read the rows, such as `--norm 1`, best first; the first was kept. */
  tried: { choice: string; mrr: number }[];
}

/** Widths of a row, as in the tables trained here. */
const widest = 4096;
/** Allowed share of the graph's entities without a row. */
const mostMissing = 0.01;
/** Number of facts to rank as a check. */
const triedFacts = 1000;

/**
 * Stores the rows of a graph's entities and relations under a name, for `transe.imported` or `bilinear.imported`. Under DistMult and
 * ComplEx an inverse relation uses the row of its name (`~r`), as in models with reciprocal relations; else its vector follows from the
 * model: −r under TransE, r under DistMult, the conjugate of r under ComplEx. A ComplEx row has the real parts first, then the imaginary
 * ones, as in DGL-KE and PyTorch-BigGraph, or both of each number in turn, as NumPy and PyTorch view complex numbers.
 * @throws WorkbenchError `data` for files that do not fit each other or the graph, `usage` for a name that is taken; nothing is stored
 * then
 */
export async function importTable(options: ImportTableOptions): Promise<ImportedTable> {
  const { name, model, norm, layout, graph, held, folder = usualFolder() } = options;
  if (!partName.safeParse(name).success) {
    throw new WorkbenchError('usage', `expected a name of letters, digits, - and _, got ${JSON.stringify(name)}`);
  }
  const file = importedFile(name, folder);
  if (existsSync(file)) {
    throw new WorkbenchError('usage', `expected a new name, got ${name}, which is kept at ${file}`, {
      hint: 'Runs may have been trained from it: import under another name, or delete the file.',
    });
  }
  if (model !== 'transe') expectInverses(graph);
  const entities = await rowsOf(options.entities, graph.numEntities, (one) => graph.entityId(one), 'entities');
  const relations = await rowsOf(options.relations, graph.numRelations, (one) => graph.relationId(one), 'relations');
  const { width } = entities;
  if (relations.width !== width) {
    throw new WorkbenchError(
      'data',
      `expected relations of ${width} numbers, as entities have, got ${relations.width}, at ${options.relations.vectors}`,
      { hint: `The models are ${importedModels.join(', ')}: is it another?` },
    );
  }
  if (model === 'complex' && width % 2 === 1) {
    throw new WorkbenchError('data', `expected an even width under complex, got ${width}: real and imaginary parts`);
  }
  if (width > widest) {
    throw new WorkbenchError(
      'data',
      `expected rows of at most ${widest} numbers, got ${width}, at ${options.entities.vectors}`,
    );
  }
  const complex = entities.complex || relations.complex;
  if (complex && model !== 'complex') {
    throw new WorkbenchError(
      'data',
      `expected real numbers under ${model}, got complex ones, at ${options.entities.vectors}`,
    );
  }
  const missing = drawMissing(entities, graph, options.entities.names);
  expectRelations(relations.found, graph, options.relations.names);
  const sizes = { numEntities: graph.numEntities, numRelations: graph.numRelations };
  const sources = {
    entities: await sha256File(options.entities.vectors),
    relations: await sha256File(options.relations.vectors),
  };
  const keep = (section: 'transe' | 'bilinear', known: object, table: VectorTable) => () => {
    // Only these settings of their training are known.
    const settings = { imported: name, ...known, dim: table.dim };
    const header = tableHeader(section, { graph, settings, seed: 0 }, 0, { history: [], importedFrom: sources });
    writeCheckpoint(file, { header, tensors: tableTensors(table) });
  };
  const asDistances = (distance: Norm) => {
    const rows = { dim: width, ...sizes, entities: entities.values, relations: relations.values };
    const { table } = normalisedTable(withInverses({ model: 'transe', norm: distance, ...rows }, graph));
    return {
      choice: `--norm ${distance}`,
      scorer: transeScorer(table),
      keep: keep('transe', { norm: distance }, table),
    };
  };
  const asProducts = (parts: ComplexLayout) => {
    const [ofEntities, ofRelations] = [entities, relations].map((found) =>
      parts === 'pairs' ? inHalves(found) : found,
    );
    const product = model as 'distmult' | 'complex';
    const rows = { dim: width, entities: ofEntities!.values, relations: bothWays(ofRelations!, product) };
    const table = { ...padded(rows, product), ...sizes, model: product };
    return { choice: `--layout ${parts}`, scorer: bilinearScorer(table), keep: keep('bilinear', { model }, table) };
  };
  const layouts = layout
    ? [layout]
    : complex
      ? (['pairs'] as const)
      : model === 'complex'
        ? complexLayouts
        : (['halves'] as const);
  const readings = model === 'transe' ? (norm ? [norm] : ([2, 1] as const)).map(asDistances) : layouts.map(asProducts);
  const facts = held?.triples ?? graphFacts(graph);
  const triples = sampledTriples(facts, triedFacts, 'embeddings/tried');
  const known = held?.known ?? knownAnswers([facts], triples);
  const ranked = readings
    .map(({ scorer, ...reading }) => ({ ...reading, metrics: sidedLinkMetrics(scorer.ranks(triples, known)).both }))
    .sort((one, other) => other.metrics.mrr - one.metrics.mrr);
  const [best] = ranked;
  best!.keep();
  const tried = ranked.map(({ choice, metrics }) => ({ choice, mrr: metrics.mrr }));
  return { file, dim: width, others: entities.others, missing, metrics: best!.metrics, tried };
}

/** Rows with the real and imaginary part of each number in turn, as real parts and then imaginary ones. */
function inHalves({ values, width, ...found }: FoundRows): FoundRows {
  const half = width / 2;
  const placeOf = (k: number) => (k % 2) * half + Math.floor(k / 2);
  const halves = new Float32Array(values.length);
  values.forEach((value, at) => (halves[at - (at % width) + placeOf(at % width)] = value));
  return { ...found, values: halves, width };
}

interface FoundRows {
  width: number;
  complex: boolean;
  /** float32 [count, width]; zeros if no row was found. */
  values: Float32Array;
  /** [count]: 1 if a row was found. */
  found: Uint8Array;
  others: number;
}

/** Rows of the graph's names. */
async function rowsOf(
  { vectors, names }: NamedRows,
  count: number,
  idOf: (name: string) => number,
  what: string,
): Promise<FoundRows> {
  const matrix = openNpy(vectors);
  try {
    const { rows, width, complex } = matrix;
    const idOfRow = new Int32Array(rows).fill(-1);
    const found = new Uint8Array(count);
    let lines = 0;
    let others = 0;
    const wrong = (expected: string, got: string, line: number) =>
      new WorkbenchError('data', `expected ${expected}, got ${got}, at ${names}:${line}`, {
        hint: 'Expected one line per row of the matrix, in order: NAME, or ROW, a tab and NAME.',
      });
    await readLines(names, `names of ${what}`, (text, line) => {
      const row = line - 1;
      lines = line;
      if (row >= rows) throw wrong(`${rows} names, one a row of ${vectors}`, 'more', line);
      const tab = text.indexOf('\t');
      if (tab >= 0 && text.slice(0, tab) !== String(row))
        throw wrong(`row ${row}`, JSON.stringify(text.slice(0, tab)), line);
      const id = idOf(text.slice(tab + 1));
      if (id < 0) return void others++;
      if (found[id]) throw wrong('each name once', JSON.stringify(text.slice(tab + 1)), line);
      found[id] = 1;
      idOfRow[row] = id;
    });
    if (lines < rows) throw wrong(`${rows} names, one a row of ${vectors}`, `${lines}`, lines);
    const values = new Float32Array(count * width);
    matrix.eachRow((row, i) => {
      const id = idOfRow[i]!;
      if (id < 0) return;
      if (!row.every(Number.isFinite)) {
        throw new WorkbenchError('data', `expected finite numbers, got others, at row ${i} of ${vectors}`);
      }
      values.set(row, id * width);
    });
    return { width, complex, values, found, others };
  } finally {
    matrix.close();
  }
}

/**
 * Gives entities without a row a vector of the mean length in a random direction: under TransE zeros would be near everything.
 * @returns their number
 */
function drawMissing({ values, found, width, others }: FoundRows, graph: Graph, names: string): number {
  const lacking = [...found.keys()].filter((entity) => !found[entity]);
  if (lacking.length > mostMissing * found.length) {
    const example = JSON.stringify(graph.entityName(lacking[0]!));
    throw new WorkbenchError(
      'data',
      `expected the names of at least ${100 * (1 - mostMissing)} % of ${found.length} entities, got those of ${found.length - lacking.length} (and ${others} others): ${example} is not among them, at ${names}`,
      { hint: 'Names must be those of the imported data set, letter by letter.' },
    );
  }
  const square = values.reduce((sum, value) => sum + value * value, 0);
  const deviation = Math.sqrt(square / Math.max(1, (found.length - lacking.length) * width));
  const rng = Rng.named(0, 'embeddings/missing');
  for (const entity of lacking) {
    for (let k = 0; k < width; k++) values[entity * width + k] = deviation * rng.normal();
  }
  return lacking.length;
}

/** Forward relations are required; inverse ones follow from them. */
function expectRelations(found: Uint8Array, { relationNames }: Graph, names: string): void {
  const lacking = relationNames.filter((name, relation) => !found[relation] && !name.startsWith(inversePrefix));
  if (lacking.length === 0) return;
  throw new WorkbenchError(
    'data',
    `expected the names of all relations, got none of ${lacking
      .slice(0, 3)
      .map((name) => JSON.stringify(name))
      .join(', ')}${lacking.length > 3 ? ` and ${lacking.length - 3} more` : ''}, at ${names}`,
  );
}

/** @throws WorkbenchError `usage` for a graph whose second half of relations are not the inverses of the first */
function expectInverses({ inverseOf, numRelations }: Graph): void {
  const plain = numRelations / 2;
  if (inverseOf.every((inverse, relation) => inverse === (relation + plain) % numRelations)) return;
  throw new WorkbenchError('usage', 'expected data of links for DistMult or ComplEx, got another graph', {
    hint: 'Walkers over dialogues read TransE: --model transe.',
  });
}

/** Rows of inverse relations missing in the files, computed from those of the forward relations. */
function bothWays({ values, found, width }: FoundRows, model: 'distmult' | 'complex'): Float32Array {
  const half = values.length / 2;
  const conjugates = model === 'complex';
  return values.map((value, at) => {
    if (at < half || found[Math.floor(at / width)]) return value;
    const forward = values[at - half]!;
    return conjugates && at % width >= width / 2 ? -forward : forward;
  });
}

/** Rows padded with zeros after each part, up to a width supported by the kernels; no score changes. */
function padded(
  { dim, entities, relations }: Pick<EmbeddingTable, 'dim' | 'entities' | 'relations'>,
  model: 'distmult' | 'complex',
) {
  const parts = model === 'complex' ? 2 : 1;
  const wide = 8 * Math.ceil(dim / 8);
  if (wide === dim) return { dim, entities, relations };
  const [from, to] = [dim / parts, wide / parts];
  const widened = (rows: Float32Array) => {
    const out = new Float32Array((rows.length / dim) * wide);
    for (let part = 0; part < rows.length / from; part++)
      out.set(rows.subarray(part * from, (part + 1) * from), part * to);
    return out;
  };
  return { dim: wide, entities: widened(entities), relations: widened(relations) };
}
