/** Shapes of evaluations on disk, for reading files that anybody may have changed. Further keys are kept. */
import { z } from 'zod';
import { furtherKey, openObject } from './read-json.js';
import type { QuestionExample, QuestionRow } from './question-records.js';
import { questionMisses } from './question-records.js';
import { anyNumber } from './record-schemas.js';
import type { EvaluationRecord, QuestionAbout, QuestionEvaluationRecord } from './records.js';

const text = z.string();
const texts = z.array(text);
const count = z.int().min(0);
const version = z.literal(1);
const counts = z.record(text, anyNumber);

const estimate = openObject({ value: anyNumber, low: anyNumber, high: anyNumber, n: anyNumber });
/** `EvaluationMetrics`, as files hold them. */
export const metrics = z.record(text, estimate);
const slices = z.record(text, metrics);
const triple = z.tuple([text, text, text]);

const exampleWalk = openObject({
  id: text,
  messages: z.array(openObject({ sender: text, text })),
  sender: text,
  start: text,
  gold: z.array(triple),
  beam: z.array(openObject({ path: z.array(triple), logProb: anyNumber })),
  firstWrongHop: count.optional(),
});

/** `EvaluationRecord`, as files hold it. */
export const evaluationRecord: z.ZodType<EvaluationRecord> = openObject({
  schemaVersion: version,
  agent: text,
  note: text.optional(),
  dataset: text,
  graph: text,
  split: text,
  turns: text,
  n: count,
  beamWidth: anyNumber,
  checkpoint: text.optional(),
  seed: anyNumber.optional(),
  count: z.enum(['strict', 'ark']),
  twoHopBonus: anyNumber.optional(),
  coverage: openObject({
    goldInGraph: anyNumber,
    startHasEdges: anyNumber,
    goldWalkable: anyNumber.optional(),
    reachable: anyNumber.optional(),
    meanActions: anyNumber,
  }),
  edges: openObject({
    policy: text,
    maxOut: count,
    entitiesCut: count,
    edges: count,
    kept: count,
    brought: counts.optional(),
  }).optional(),
  misses: counts.optional(),
  metrics,
  slices,
  cost: z.record(text, anyNumber),
  hashes: openObject({ graph: text, encoder: text.optional(), checkpoint: text.optional(), data: text.optional() }),
  examples: z.array(exampleWalk).optional(),
});

const about = {
  dataset: text,
  labels: texts.optional(),
  graph: text,
  subsets: texts,
  split: text,
  holdOut: text,
  limit: anyNumber.optional(),
  seed: anyNumber,
  model: text.optional(),
  simulated: z.boolean(),
  budget: anyNumber.nullable(),
  budgetMode: z.enum(['strict', 'reference']),
  choices: z.literal('logprob').optional(),
  switches: z.record(text, furtherKey),
  topicGiven: z.boolean(),
  hopsWithheld: z.boolean().optional(),
};

/** `QuestionAbout`, as files hold it. */
export const questionAbout: z.ZodType<QuestionAbout> = openObject(about);

/** Hashes of what questions were asked of; of an evaluation's record the model's, too. */
export const questionHashes = openObject({
  graph: text,
  dataset: text,
  model: text.optional(),
  encoder: text.optional(),
  checkpoint: text.optional(),
});

const phaseCalls = z.record(text, openObject({ calls: anyNumber, stages: counts }));
const cost = openObject({ mean: anyNumber, median: anyNumber, p95: anyNumber, max: anyNumber, total: anyNumber });

/** `QuestionEvaluationRecord`, as files hold it. */
export const questionEvaluationRecord: z.ZodType<QuestionEvaluationRecord> = openObject({
  schemaVersion: version,
  kind: z.literal('questions'),
  ...about,
  agent: text,
  note: text.optional(),
  n: count,
  excluded: counts,
  metrics: metrics.and(openObject({ 'calls.mean': estimate, crashed: estimate })),
  slices,
  cost: z.record(text, cost),
  phases: phaseCalls,
  stops: counts,
  misses: counts,
  budgetCurve: z.array(openObject({ calls: anyNumber, hit: anyNumber, complete: anyNumber })),
  hashes: questionHashes,
});

const miss = z.enum(questionMisses);

/** `QuestionRow`, as files hold it. */
export const questionRow: z.ZodType<QuestionRow> = openObject({
  id: text,
  subset: text,
  type: text.optional(),
  form: z.enum(['entities', 'truth']),
  question: text,
  golds: count,
  reachable: z.boolean(),
  reachableAll: z.boolean(),
  entities: z.array(z.int()),
  names: texts,
  literals: texts,
  truth: z.boolean().optional(),
  text: text.optional(),
  chain: texts.optional(),
  verified: z.boolean().optional(),
  metrics: counts,
  matched: z.array(count),
  matchedLenient: z.array(count),
  ...Object.fromEntries(
    ['calls', 'promptTokens', 'cachedTokens', 'completionTokens', 'graphReads', 'encodes'].map((key) => [
      key,
      anyNumber,
    ]),
  ),
  phases: phaseCalls,
  stop: text,
  abstained: z.boolean(),
  unparsed: z.boolean(),
  degraded: z.boolean(),
  atCap: z.boolean(),
  crash: text.optional(),
  miss: miss.optional(),
}) as unknown as z.ZodType<QuestionRow>;

/** `QuestionExample`, as files hold it. */
export const questionExample: z.ZodType<QuestionExample> = openObject({
  id: text,
  subset: text,
  type: text.optional(),
  question: text,
  topics: texts,
  gold: texts,
  golds: count,
  goldChain: texts.optional(),
  answer: texts,
  answers: count,
  right: z.boolean(),
  exact: z.boolean(),
  chain: texts.optional(),
  evidence: z.array(triple),
  stop: text,
  miss: miss.optional(),
  calls: z.array(openObject({ phase: text, stage: text, promptTokens: anyNumber, completionTokens: anyNumber })),
  steps: texts,
});
