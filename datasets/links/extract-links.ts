/**
 * Extraction of topic neighbourhoods from an endpoint graph into triples and names for an importer, since training needs the graph in
 * memory. Breadth first, each entity once; answers are cached, so a stopped extraction can be resumed.
 */
import { join } from 'node:path';
import { NameTable } from '../../src/kg/name-table.js';
import { WorkbenchError } from '../../src/run/errors.js';
import { readTextFile, writeFileAtomic } from '../../src/run/files.js';
import { silentProgress, type ProgressReporter } from '../../src/run/progress.js';
import type { Delay } from '../../src/run/requests.js';
import { Rng } from '../../src/run/seeds.js';
import { throwIfStopped } from '../../src/run/stop.js';
import { openNeighbourhoods } from '../../src/kg/sparql/neighbourhoods.js';
import { type SparqlSource, iriTerm, nameOfTerm, termOfName } from '../../src/kg/sparql/source.js';
import { type Extraction, extractionFileName } from './link-dataset.js';
import { TripleSet } from './read-triples.js';

export interface ExtractOptions {
  source: SparqlSource;
  /** Names in the source's form: IRIs, names without its prefix, or labels. */
  topics: readonly string[];
  /** 1 to 4. */
  hops: number;
  /** Number of additional topics drawn from the rim. */
  distractors: number;
  seed: number;
  /** Output folder of `triples.tsv`, `names.tsv` and `extraction.json`. */
  folder: string;
  maxEntities: number;
  progress?: ProgressReporter;
  signal?: AbortSignal;
  /** For tests. */
  delay?: Delay;
  cache?: string;
}

/** Entities per batch of queries. */
const atOnce = 500;

/**
 * @throws WorkbenchError `data` if no topic has edges, or more than `maxEntities` would be loaded; as `openNeighbourhoods`; `stopped`
 * once the signal is aborted. Answers so far stay in the cache.
 */
export async function extractLinks(options: ExtractOptions): Promise<Extraction> {
  const { source, topics, hops, distractors, seed, folder, maxEntities, progress = silentProgress, signal } = options;
  const { delay, cache } = options;
  const remote = await openNeighbourhoods(source, { delay, cache });
  const [entities, relations, triples] = [new NameTable(), new NameTable(), new TripleSet()];
  /** Remaining hops with loaded edges, by entity; 0 at the rim. */
  const left: number[] = [];
  const counts = { expanded: 0, cut: 0, leftOut: 0 };

  const entityOf = (term: string): number => {
    const id = entities.add(term);
    left[id] ??= 0;
    return id;
  };

  async function termsOf(names: readonly string[]): Promise<string[]> {
    const labelled = await remote.labelled(source.label === undefined ? [] : names, signal);
    return [...new Set(names.map((name) => labelled.get(name) ?? termOfName(name, source.prefix)))];
  }

  /** Breadth first, so each entity is expanded with its maximum remaining hops. */
  async function walk(from: readonly string[], what: string): Promise<number> {
    let level = from;
    let found = 0;
    for (let hop = hops; hop > 0; hop--) {
      const next = new Set<string>();
      const fresh = level.filter((term) => left[entityOf(term)]! < hop);
      const wanted = counts.expanded + fresh.filter((term) => left[entityOf(term)] === 0).length;
      if (wanted > maxEntities) throw tooMany(wanted, maxEntities);
      const line = progress(`${what}, hop ${hops - hop + 1}`, fresh.length, 'entities');
      for (let at = 0; at < fresh.length; at += atOnce) {
        throwIfStopped(signal);
        const part = fresh.slice(at, at + atOnce);
        for (const [term, kept] of await remote.of(part, signal)) {
          const own = entityOf(term);
          const first = left[own] === 0;
          if (first && kept.length > 0) counts.expanded++;
          if (hop === hops && kept.length > 0) found++;
          left[own] = hop;
          for (const { direction, relation, tails, cut, leftOut = 0 } of kept) {
            if (first && cut) counts.cut++;
            if (first) counts.leftOut += leftOut;
            const id = relations.add(relation);
            for (const tail of tails) {
              const other = entityOf(tail);
              if (direction === 'out') triples.add(own, id, other);
              else triples.add(other, id, own);
              if (!tail.startsWith('"')) next.add(tail);
            }
          }
        }
        line.update(Math.min(fresh.length, at + atOnce), `${triples.size} triples`);
      }
      line.finish();
      level = [...next];
    }
    return found;
  }

  try {
    const asked = await termsOf(topics);
    const found = await walk(asked, 'topics');
    if (triples.size === 0) throw noTopics(source, topics);
    const drawn = distractors > 0 ? drawFromRim() : [];
    await walk(drawn, 'distractors');
    const rim = left.filter((hop) => hop === 0).length;
    const extraction: Extraction = {
      ...{ source: source.name, hops, maxTails: source.maxTails, topics: found, notFound: asked.length - found },
      ...{ distractors: drawn.length, seed, ...counts, rim, triples: triples.size },
    };
    const labels = await remote.labels([...entities.names()], signal);
    const names = [...labels].map(([term, label]) => `${fieldOf(term, source.prefix)}\t${oneLine(label)}\n`);
    writeFileAtomic(join(folder, 'names.tsv'), names.join(''));
    const relationLabels = await remote.relationLabels([...relations.names()], signal);
    writeFileAtomic(join(folder, 'triples.tsv'), tripleLines(source, { entities, relations, triples }, relationLabels));
    writeFileAtomic(join(folder, extractionFileName), `${JSON.stringify(extraction, null, 2)}\n`);
    return extraction;
  } finally {
    await remote.close();
  }

  function drawFromRim(): string[] {
    const rim = [...entities.names()].filter((term, id) => left[id] === 0 && !term.startsWith('"'));
    const order = Rng.named(seed, 'datasets/extract/distractors').shuffle(Int32Array.from(rim.keys()));
    return Array.from(order.subarray(0, distractors), (i) => rim[i]!);
  }
}

/** Lines of `triples.tsv`, in pieces. */
function* tripleLines(
  { prefix, relationPrefix }: SparqlSource,
  { entities, relations, triples }: { entities: NameTable; relations: NameTable; triples: TripleSet },
  labels: ReadonlyMap<string, string>,
): Generator<Uint8Array> {
  const columns = triples.columns();
  const relationNames = Array.from(relations.names(), (term) =>
    oneLine(labels.get(term) ?? nameOfTerm(term, relationPrefix)),
  );
  for (let at = 0; at < triples.size; at += 10_000) {
    const lines = [];
    for (let i = at; i < Math.min(at + 10_000, triples.size); i++) {
      const [head, tail] = [columns.heads[i]!, columns.tails[i]!].map((id) => fieldOf(entities.name(id)!, prefix));
      lines.push(`${head}\t${relationNames[columns.relations[i]!]}\t${tail}\n`);
    }
    yield Buffer.from(lines.join(''));
  }
}

const fieldOf = (term: string, prefix: SparqlSource['prefix']) => oneLine(nameOfTerm(term, prefix));

/** Name as a field of a line: literals may contain TABs and line ends, or be empty. */
const oneLine = (name: string) => name.replace(/\s+/gu, ' ').trim() || '""';

/** Topics of a file, one per line. @throws WorkbenchError `data` for an empty or unreadable file */
export function readTopics(file: string): string[] {
  const lines = readTextFile(file, 'a file of topics').split(/\r?\n/);
  const topics = new Set(lines.map((line) => line.trim()).filter((line) => line !== ''));
  if (topics.size > 0) return [...topics];
  throw new WorkbenchError('data', `expected topics, one a line, got none, at ${file}`, {
    hint: 'Give names of entities as in the questions of train, valid and test.',
  });
}

function noTopics({ name, prefix, label }: SparqlSource, topics: readonly string[]): WorkbenchError {
  const asked =
    label === undefined ? termOfName(topics[0]!, prefix) : `${JSON.stringify(topics[0])} by ${iriTerm(label)}`;
  return new WorkbenchError('data', `expected a topic with edges, got none, such as ${asked}, at ${name}`, {
    hint: 'Topics are IRIs, names relative to #prefix=IRI, or labels with #label=IRI.',
  });
}

function tooMany(wanted: number, most: number): WorkbenchError {
  return new WorkbenchError('data', `expected at most ${most} entities to load edges of, got ${wanted}`, {
    hint: 'Lower --hops or --max-tails, give fewer topics, or raise --max-entities: answers so far are cached.',
  });
}
