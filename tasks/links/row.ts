/** Row of one query, and its columns. */
import { z } from 'zod';
import { arrowFile } from '../../src/run/arrow.js';
import { openObject } from '../../src/run/read-json.js';
import { anyNumber } from '../../src/run/records.js';

/** A line of `answers.jsonl`. */
export const linkRow = openObject({
  /** `tail/12`: direction, and place among the triples that were asked. */
  id: z.string(),
  direction: z.enum(['tail', 'head']),
  /** Entity id that the query gives, relation id that it asks for, entity id of its answer. */
  head: z.int(),
  relation: z.int(),
  answer: z.int(),
  /** Filtered realistic rank of the answer, 1 or more; of walks, by the best one to each entity. */
  rank: anyNumber,
  /** The same by the summed probability of walks; absent where nothing is summed. */
  sumRank: anyNumber.optional(),
  /** The answer was reached; absent where everything is scored. */
  reached: z.boolean().optional(),
  /** Edges from head to answer, the query's own left out; 255 beyond the horizon. */
  distance: z.int(),
  /** For walks and rules: relations that led to the first answer beyond train, and whether some split holds that answer. */
  chain: z.array(z.int()).optional(),
  chainRight: z.boolean().optional(),
  miss: z.string().optional(),
});
/** See `linkRow`. */
export type LinkRow = z.output<typeof linkRow>;

/**
 * Rows as an Arrow IPC file: `asks_head`, `head`, `relation`, `answer`, `rank`, `distance`, and where there are such
 * `sum_rank` and `reached`. Equal rows give equal bytes.
 */
export function linkArrow(rows: readonly LinkRow[]): Uint8Array {
  const [first] = rows;
  return arrowFile(rows, ({ int32, float64, uint8 }) => ({
    asks_head: uint8(({ direction }) => Number(direction === 'head')),
    head: int32(({ head }) => head),
    relation: int32(({ relation }) => relation),
    answer: int32(({ answer }) => answer),
    rank: float64(({ rank }) => rank),
    distance: uint8(({ distance }) => distance),
    ...(first?.sumRank !== undefined && { sum_rank: float64(({ sumRank }) => sumRank!) }),
    ...(first?.reached !== undefined && { reached: uint8(({ reached }) => Number(reached)) }),
  }));
}
