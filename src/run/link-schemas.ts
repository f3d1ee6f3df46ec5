/** Shape of evaluations on link queries on disk, for reading files that anybody may have changed. Further keys are kept. */
import { z } from 'zod';
import { metrics } from './evaluation-schemas.js';
import { linkDirections, type LinkEvaluationRecord } from './link-records.js';
import { openObject } from './read-json.js';
import { anyNumber } from './record-schemas.js';

const text = z.string();
const count = z.int().min(0);
const triple = z.tuple([text, text, text]);

const chain = openObject({
  relation: text,
  chain: z.array(text),
  uses: count,
  right: count,
  precision: anyNumber,
});

const answer = openObject({
  entity: text,
  logProb: anyNumber,
  right: z.boolean(),
  known: z.boolean(),
  path: z.array(triple),
});

/** `LinkEvaluationRecord`, as files hold it. */
export const linkEvaluationRecord: z.ZodType<LinkEvaluationRecord> = openObject({
  schemaVersion: z.literal(1),
  kind: z.literal('links'),
  agent: text,
  note: text.optional(),
  dataset: text,
  split: text,
  limit: count.optional(),
  seed: anyNumber.optional(),
  n: count,
  run: text.optional(),
  checkpoint: text.optional(),
  horizon: count.optional(),
  beamWidth: count.optional(),
  directions: z.partialRecord(z.enum(linkDirections), metrics),
  unseen: openObject({ entities: count, relations: count }),
  cost: openObject({ seconds: anyNumber.optional(), queriesPerSecond: anyNumber.optional() }),
  hashes: openObject({ graph: text, dataset: text, checkpoint: text.optional(), table: text.optional() }),
  chains: z.array(chain).optional(),
  examples: z
    .array(openObject({ head: text, relation: text, answer: text, rank: anyNumber, answers: z.array(answer) }))
    .optional(),
});
