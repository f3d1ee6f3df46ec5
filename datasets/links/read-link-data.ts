/** Link data as the field ships it: a folder with train, valid and test files of head, relation and tail. */
import { join } from 'node:path';
import { Graph, inverseName, type TripleColumns } from '../../src/kg/graph.js';
import { readTriples } from '../../src/kg/read-triples.js';
import { WorkbenchError } from '../../src/run/errors.js';

/** Triples by split, and the graph of the training ones. */
export interface LinkData {
  /** Entities of all splits, edges of train alone, each with its inverse `~relation`. */
  graph: Graph;
  /** By the graph's ids, in the order of the file, repetitions included. */
  train: TripleColumns;
  valid: TripleColumns;
  test: TripleColumns;
}

/**
 * Reads `train.txt`, `valid.txt` and `test.txt`, one `head TAB relation TAB tail` a line. Ids follow the first appearance in
 * that order; inverses come after all relations.
 * @param name of the graph, such as the data's
 * @throws WorkbenchError `data` for what `readTriples` refuses and for a training file without triples
 */
export async function readLinkData(folder: string, name: string): Promise<LinkData> {
  const entities = new Map<string, number>();
  const relations = new Map<string, number>();
  const read = async (split: string): Promise<TripleColumns> => {
    const columns: [number[], number[], number[]] = [[], [], []];
    await readTriples(join(folder, `${split}.txt`), {}, (head, relation, tail) => {
      columns[0].push(idOf(entities, head));
      columns[1].push(idOf(relations, relation));
      columns[2].push(idOf(entities, tail));
    });
    const [heads, kinds, tails] = columns.map((column) => Int32Array.from(column)) as [
      Int32Array,
      Int32Array,
      Int32Array,
    ];
    return { heads, relations: kinds, tails };
  };
  const train = await read('train');
  const valid = await read('valid');
  const test = await read('test');
  if (train.heads.length === 0) {
    throw new WorkbenchError('data', `expected training triples, got none, at ${join(folder, 'train.txt')}`);
  }
  const names = [...relations.keys()];
  const graph = new Graph(
    name,
    [...entities.keys()],
    [...names, ...names.map(inverseName)],
    {
      heads: joined(train.heads, train.tails),
      relations: joined(
        train.relations,
        train.relations.map((relation) => relation + names.length),
      ),
      tails: joined(train.tails, train.heads),
    },
    ['train.txt'],
  );
  return { graph, train, valid, test };
}

function idOf(ids: Map<string, number>, name: string): number {
  const known = ids.get(name);
  if (known !== undefined) return known;
  // A part of a longer string keeps all of it in memory; a copy through bytes does not.
  ids.set(Buffer.from(name).toString(), ids.size);
  return ids.size - 1;
}

function joined(a: Int32Array, b: Int32Array): Int32Array {
  const both = new Int32Array(a.length + b.length);
  both.set(a);
  both.set(b, a.length);
  return both;
}
