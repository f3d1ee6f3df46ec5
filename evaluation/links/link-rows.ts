/** What was found of each query, in columns, and its file. */
import { readFileSync } from 'node:fs';
import { WorkbenchError } from '../../src/run/errors.js';
import { writeFileAtomic } from '../../src/run/files.js';

/** One row a query, tail queries first, each direction in the order of the triples. */
export interface LinkRows {
  /** uint8: 1 where the head of a triple is asked for, by the inverse relation. */
  asksHead: Uint8Array;
  /** int32: entity id that the query gives. */
  heads: Int32Array;
  /** int32: relation id that it asks for. */
  relations: Int32Array;
  /** int32: entity id of its answer. */
  answers: Int32Array;
  /** float64: filtered realistic rank of the answer; of walks, by the best one to each entity. */
  ranks: Float64Array;
  /** float64: the same by the summed probability of walks; absent where nothing is summed. */
  sumRanks?: Float64Array;
  /** uint8: whether the answer was reached; absent where everything is scored. */
  reached?: Uint8Array;
  /** uint8: edges from head to answer, the query's own left out; 255 beyond the horizon. */
  distances: Uint8Array;
}

/**
 * Writes the rows as an Arrow IPC file: `asks_head`, `head`, `relation`, `answer`, `rank`, `distance`, and where there are such
 * `sum_rank` and `reached`. Equal rows give equal bytes.
 */
export async function writeLinkRows(file: string, rows: LinkRows): Promise<void> {
  const { makeVector, Table, tableToIPC } = await import('apache-arrow');
  const table = new Table({
    asks_head: makeVector(rows.asksHead),
    head: makeVector(rows.heads),
    relation: makeVector(rows.relations),
    answer: makeVector(rows.answers),
    rank: makeVector(rows.ranks),
    distance: makeVector(rows.distances),
    ...(rows.sumRanks && { sum_rank: makeVector(rows.sumRanks) }),
    ...(rows.reached && { reached: makeVector(rows.reached) }),
  });
  writeFileAtomic(file, tableToIPC(table, 'file'));
}

/** @throws WorkbenchError `data` for a file that is not such a table */
export async function readLinkRows(file: string): Promise<LinkRows> {
  const { tableFromIPC } = await import('apache-arrow');
  const refuse = (cause?: unknown) =>
    new WorkbenchError('data', `expected the rows of an evaluation on links, got another file, at ${file}`, { cause });
  let table: ReturnType<typeof tableFromIPC>;
  try {
    table = tableFromIPC(readFileSync(file));
  } catch (cause) {
    throw refuse(cause);
  }
  const column = <T>(name: string, type: new (...given: never[]) => T): T | undefined => {
    const values: unknown = table.getChild(name)?.toArray();
    if (values !== undefined && !(values instanceof type)) throw refuse();
    return values;
  };
  const [asksHead, distances, reached] = ['asks_head', 'distance', 'reached'].map((name) => column(name, Uint8Array));
  const [heads, relations, answers] = ['head', 'relation', 'answer'].map((name) => column(name, Int32Array));
  const [ranks, sumRanks] = ['rank', 'sum_rank'].map((name) => column(name, Float64Array));
  if (!(asksHead && distances && heads && relations && answers && ranks)) throw refuse();
  return {
    ...{ asksHead, heads, relations, answers, ranks, distances },
    ...(sumRanks && { sumRanks }),
    ...(reached && { reached }),
  };
}
