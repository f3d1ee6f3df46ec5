/**
 * KV-Mem, subgraph memory: the question reads facts of its subgraph by their heads and relations, and continues with their tails.
 *
 *   q_1 = Σ words + E[topic]        p = softmax over facts of q_j · (E[head] + K[relation])        q_{j+1} = R_j (q_j + Σ p E[tail])
 *   answer = softmax over the entities of E[y] · q_{H+1}
 *
 * Published: facts that share a rare word with the question instead of a subgraph, entities and relations in one table with the
 * words, sampled candidates.
 * @source Miller et al. 2016, arXiv:1606.03126, section 3
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
import { addressed, memoryBatch, type MemoryBatch } from './memory.js';

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
      ...normal('relation', numRelations),
      ...Object.fromEntries(hops.map((name) => [name, { shape: [dim, dim], data: identity }])),
    },
    lay: (tasks, cut) => memoryBatch(subgraphs, tasks, of.memory, cut),
    compute(tape, tasks, batch) {
      const entities = table.rows(tape, batch.entities);
      const relation = tape.parameter('relation', dim);
      const rows = questionOfRows(batch);
      const tableRows = Int32Array.from(rows.keys());
      const slots = Int32Array.from({ length: tasks.length * numRelations }, (_, slot) => slot % numRelations);
      const questionOf = slots.map((_, slot) => Math.floor(slot / numRelations));
      const read = (weights: HostTaped) => tape.weightedSums(weights, entities, rows, tableRows, tasks.length);
      let query = tape.add(question(tape, tasks), read(tape.constant(batch.initialWeights, 1)));
      for (const name of hops) {
        const ofHead = tape.dots(entities, tableRows, query, rows);
        const ofRelation = tape.dots(relation, slots, query, questionOf);
        const heard = tape.add(query, read(addressed(tape, ofHead, ofRelation, batch)));
        query = tape.product(heard, tape.parameter(name, dim));
      }
      return { scores: tape.dots(entities, tableRows, query, rows) };
    },
  };
}
