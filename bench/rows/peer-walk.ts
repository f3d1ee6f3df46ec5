/** The walk that the Python peers measure, as options of our environment, and the arguments of the programs that use it. */
import { basename } from 'node:path';
import { parseArgs } from 'node:util';
import { readLinkData } from '../../datasets/links/read-splits.js';
import type { LinkQueryOptions, QueryVectors } from '../../envs/index.js';
import { Rng } from '../../src/run/seeds.js';

/** Two steps, a stay and at most 49 edges, nothing hidden, random normal vectors of 64. @source kg_walk_env.py of the peers */
export async function peerWalk(folder: string, dim = 64): Promise<LinkQueryOptions & { vectors: QueryVectors }> {
  const { graph, train } = await readLinkData(folder, basename(folder));
  const rng = Rng.named(0, 'bench/vectors');
  const table = (rows: number) => Float32Array.from({ length: rows * dim }, () => rng.normal());
  const vectors = { dim, entities: table(graph.numEntities), relations: table(graph.numRelations) };
  return { graph, queries: train, horizon: 2, hideQueryEdge: false, maxEdges: 49, vectors };
}

/**
 * A folder, `--seconds`, `--threads`, `--seed`, and further options of a program, numbers and words, with their defaults.
 */
export function rowArguments<Name extends string, Word extends string = never>(
  defaults: Record<Name, number>,
  words = {} as Record<Word, string>,
) {
  const all: Record<string, number> = { seconds: 5, threads: 1, seed: 0, ...defaults };
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: Object.fromEntries(
      Object.entries({ ...all, ...words }).map(([name, value]) => [
        name,
        { type: 'string' as const, default: String(value) },
      ]),
    ),
  });
  const [folder] = positionals;
  if (folder === undefined) throw new Error('expected the folder of train.txt, valid.txt and test.txt');
  const numbers = Object.fromEntries(Object.keys(all).map((name) => [name, Number(values[name])]));
  const said = Object.fromEntries(Object.keys(words).map((name) => [name, values[name]]));
  return {
    folder,
    ...(numbers as Record<Name | 'seconds' | 'threads' | 'seed', number>),
    ...(said as Record<Word, string>),
  };
}
