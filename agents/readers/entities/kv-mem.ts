/**
 * KV-Mem, subgraph memory: the question reads facts of its subgraph by their heads and relations, and continues with what it read and
 * where it read it, until it reads STOP.
 *
 *   q_1 = Σ words + E[topic]        k = E[head] + K[relation], K[STOP] of STOP        p = softmax over facts and STOP of q_j · k
 *   q_{j+1} = R_j (q_j + Σ p E[tail]) + S_j Σ p k        q = Σ_j (Π_{i<j} (1 − p_i[STOP])) p_j[STOP] q_j, the last with all that is left
 *   answer = softmax over the entities of E[y] · q
 *
 * Published: facts that share a rare word with the question or stand next to its entity instead of a subgraph, entities and relations
 * in one table with the words, sampled candidates; a hard STOP, at the fact read most.
 * @source Miller et al. 2016, arXiv:1606.03126, section 3; Xu et al. 2019, NAACL, N19-1301 (keys in the query, STOP)
 */
import { maskedQuestion, type QuestionTask } from '../../../datasets/question.js';
import { distinctTexts } from '../../../src/encoder/state-encoder.js';
import type { Subgraphs } from '../../../src/kg/subgraphs.js';
import { Rng } from '../../../src/run/seeds.js';
import type { HostTaped, SimdTape } from '../../../src/nn/simd/tape.js';
import { normalValues } from '../../../src/nn/parameters.js';
import type { ReaderBasis, ReaderFacts } from '../facts.js';
import type { ReaderKind } from '../reader.js';
import { ScaledTexts } from '../../relation-walker/question-vectors.js';
import { frozenWords, learnedWords, scaleOf, vocabularyIn, wordBasis, wordsOf } from '../words/inputs.js';
import { entityReader, type EntityNetwork } from './entity-reader.js';
import { EntityTable } from './entity-table.js';
import { questionOfRows } from './laid-questions.js';
import { memoryBatch, type MemoryBatch } from './memory.js';

/** Its line of the registry. */
export const kvMem: ReaderKind = {
  title: 'KV-Mem, subgraph memory',
  networkSize: ({ entities: { dim }, fit }) => ({ rows: fit.batchSize, inputs: dim, units: dim }),
  problems: ({ hops, entities: { teacher } }) => [
    hops !== null && `expected reader.hops=null with reader.kind=kv-mem, which always reads as often, got ${hops}`,
    teacher !== 'none' &&
      `expected reader.entities.teacher=none with reader.kind=kv-mem, which takes no shares from step to step, got ${teacher}`,
  ],
  basis: wordBasis,
  create: (facts, basis) => entityReader(facts, (subgraphs) => memoryNetwork(facts, basis, subgraphs)),
};

function memoryNetwork(
  { graph, encoder, maxTokens, settings: { entities: of, maxWords, words: wanted }, horizon, seed }: ReaderFacts,
  basis: ReaderBasis,
  subgraphs: Subgraphs,
): EntityNetwork<MemoryBatch> {
  const { dim } = of;
  const { numRelations } = subgraphs;
  const words =
    wanted === 'frozen'
      ? frozenWords(new ScaledTexts(encoder, scaleOf(basis, encoder.dim), maxTokens), dim)
      : learnedWords(vocabularyIn(basis), dim, of.deviation);
  const rngOf = (name: string) => Rng.named(seed, `reader/${name}`);
  const normal = (name: string, rows: number) => ({
    [name]: { shape: [rows, dim], data: normalValues(rngOf(name), of.deviation, rows * dim) },
  });
  const identity = Float32Array.from({ length: dim * dim }, (_, i) => Number(i % (dim + 1) === 0));
  const hops = Array.from({ length: horizon }, (_, j) => `hop.${j}`);
  const table = new EntityTable(graph.numEntities, dim, of.deviation, rngOf('entities'));

  const wordsIn = (text: string) => wordsOf(text, maxWords);
  const question = (tape: SimdTape, tasks: readonly QuestionTask[]): HostTaped => {
    const bags = tasks.map((task) => wordsIn(maskedQuestion(task)));
    const rows = Int32Array.from(bags.flatMap((bag, q) => bag.map(() => q)));
    const { distinct, rows: tableRows } = distinctTexts(bags.flat());
    const weights = tape.constant(new Float32Array(rows.length).fill(1), 1);
    return tape.weightedSums(weights, words.rows(tape, distinct), rows, tableRows, tasks.length);
  };

  return {
    table,
    prepare: (texts, signal) => words.prepare(texts.flatMap(wordsIn), signal),
    initialWeights: {
      ...words.initialWeights(rngOf),
      ...normal('relation', numRelations + 1),
      ...Object.fromEntries(hops.map((name) => [name, { shape: [dim, dim], data: identity }])),
      ...Object.fromEntries(
        hops.map((name) => [`${name}.key`, { shape: [dim, dim], data: new Float32Array(dim * dim) }]),
      ),
    },
    lay: (tasks, cut) => memoryBatch(subgraphs, tasks, of.memory, cut),
    compute(tape, tasks, batch) {
      const entities = table.rows(tape, batch.entities);
      const rows = questionOfRows(batch);
      const tableRows = Int32Array.from(rows.keys());
      const topics = tape.weightedSums(tape.constant(batch.initialWeights, 1), entities, rows, tableRows, tasks.length);
      const first = tape.add(question(tape, tasks), topics);
      const query = readMemory(tape, entities, first, hops, batch);
      return { scores: tape.dots(entities, tableRows, query, rows) };
    },
  };
}

/** Query of each question where it stops reading: [questions, dim]. @param entities [rows, dim] @param first query @param hops names of the readings */
export function readMemory(
  tape: SimdTape,
  entities: HostTaped,
  first: HostTaped,
  hops: readonly string[],
  { offsets, heads, relations, tails }: MemoryBatch,
): HostTaped {
  const { rows: count, width: dim } = first;
  const each = Int32Array.from({ length: count }, (_, q) => q);
  const questionOf = new Int32Array(heads.length);
  for (const q of each) questionOf.fill(q, offsets[q], offsets[q + 1]);
  const facts = Int32Array.from(heads.keys());
  const values = tape.stack([entities, tape.constant(new Float32Array(dim), dim)]);
  const keys = tape.add(tape.rows(values, heads), tape.rows(tape.parameter('relation', dim), relations));
  const scaled = (weights: HostTaped, of: HostTaped) => tape.weightedSums(weights, of, each, each, count);
  let [query, going] = [first, tape.constant(new Float32Array(count).fill(1), 1)];
  let stopped = tape.constant(new Float32Array(count * dim), dim);
  for (const name of hops) {
    const shares = tape.exp(tape.segmentLogSoftmax(tape.dots(query, questionOf, keys, facts), offsets));
    const read = (of: HostTaped, places: Int32Array) => tape.weightedSums(shares, of, questionOf, places, count);
    const ends = tape.multiply(going, tape.rows(shares, offsets.subarray(1).map((end) => end - 1))); // prettier-ignore
    stopped = tape.add(stopped, scaled(ends, query));
    going = tape.add(going, ends, -1);
    query = tape.add(
      tape.times(tape.add(query, read(values, tails)), name),
      tape.times(read(keys, facts), `${name}.key`),
    );
  }
  return tape.add(stopped, scaled(going, query));
}
