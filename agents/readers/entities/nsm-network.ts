/**
 * The neural state machine over entities: instructions that attend to words, one a step, and shares of entities that move along
 * the facts which suit them.
 *
 *   H = W_h BiGRU(words) + b     q = W_q [ends] + b      i_0 = 0
 *   q_k = W_k q + b_k    c = W_c [i_{k−1} ; q_k] + b_c    i_k = Σ_j softmax_j(w_a · (c ⊙ H_j)) H_j
 *   e⁰_v = σ(Σ_r ln(1 + facts of v by r) W_T r)           p⁰: the topics
 *   m_r = relu(W_R^k r ⊙ i_k)    ẽ_v = Σ_r S[v, r] m_r    S[v, r] = Σ p^{k−1}_u over u −r→ v
 *   e^k_v = relu(W_E^k [e^{k−1}_v ; ẽ_v] + b)             p^k = softmax of w_s · e^k_v over what is reached, topics never
 *
 * Published: entities add relations up without the logarithm, W_E and w_s as here; LSTM and GloVe in the place of this GRU.
 * @source He et al. 2021, arXiv:2101.03737, section 4
 */
import type { Rng } from '../../../src/run/seeds.js';
import type { HostTaped, SimdTape } from '../../../src/nn/simd/tape.js';
import { uniformFanIn, xavierUniform } from '../../../src/nn/parameters.js';
import { denseStarts, type RngOf, type InitialWeights, type WordInput } from '../words/inputs.js';
import type { EntityBatch } from './entity-batch.js';
import { arrivals, reachedShares } from './reasoning.js';

export interface NsmShape {
  /** Relations of the subgraphs, the loop included. */
  numRelations: number;
  hops: number;
  /** Width of instructions, relations and entities. */
  dim: number;
  /** Width of a word's state, both directions. */
  wordWidth: number;
}

export const square = (name: string, dim: number, rngOf: RngOf): InitialWeights => ({
  [name]: { shape: [dim, dim], data: xavierUniform(rngOf(name), dim, dim) },
});

const stepStarts = (k: number, dim: number, rngOf: RngOf): InitialWeights => ({
  ...square(`message.${k}`, dim, rngOf),
  ...square(`arrival.${k}`, dim, rngOf),
  ...denseStarts(`state.${k}`, dim, dim, rngOf),
});

const shareStart = (dim: number, rngOf: RngOf): InitialWeights => ({
  share: { shape: [dim, 1], data: uniformFanIn(rngOf('share'), dim, dim) },
});

export function nsmStarts(
  words: Pick<WordInput, 'initialWeights'>,
  { numRelations, hops, dim, wordWidth }: NsmShape,
  rngOf: RngOf,
): InitialWeights {
  const steps = Array.from({ length: hops }, (_, k) => ({
    ...denseStarts(`instruction.${k}`, dim, dim, rngOf),
    ...stepStarts(k, dim, rngOf),
  }));
  return {
    ...words.initialWeights(rngOf),
    ...denseStarts('word.state', wordWidth, dim, rngOf),
    ...denseStarts('question', wordWidth, dim, rngOf),
    ...denseStarts('join', 2 * dim, dim, rngOf),
    attention: { shape: [1, dim], data: uniformFanIn(rngOf('attention'), dim, dim) },
    relation: { shape: [numRelations, dim], data: xavierUniform(rngOf('relation'), numRelations, dim) },
    ...square('kind', dim, rngOf),
    ...Object.assign({}, ...steps),
    ...shareStart(dim, rngOf),
  };
}

/** Initial weights of the steps of a walk, without those of instructions and relations. */
export function walkStarts({ hops, dim }: Pick<NsmShape, 'hops' | 'dim'>, rngOf: RngOf): InitialWeights {
  const steps = Array.from({ length: hops }, (_, k) => stepStarts(k, dim, rngOf));
  return { ...Object.assign({}, ...steps), ...shareStart(dim, rngOf) };
}

/** Instructions: [texts, dim] a step. */
export function instructions(
  tape: SimdTape,
  words: Pick<WordInput, 'read'>,
  texts: readonly string[],
  { hops, dim }: Pick<NsmShape, 'hops' | 'dim'>,
  dropout?: { rate: number; rng: Rng },
): HostTaped[] {
  const { states, ends, offsets } = words.read(tape, texts, dropout?.rng);
  const heard = tape.dense(states, 'word.state', dim);
  const question = tape.dropout(tape.dense(ends, 'question', dim), dropout?.rate ?? 0, dropout?.rng);
  const attention = tape.parameter('attention', dim);
  const all: HostTaped[] = [];
  let last = tape.constant(new Float32Array(texts.length * dim), dim);
  for (let k = 0; k < hops; k++) {
    const asked = tape.dense(question, `instruction.${k}`, dim);
    const joined = tape.dense(tape.concat([last, asked]), 'join', dim);
    last = tape.attend(tape.multiply(joined, attention), heard, offsets);
    all.push(last);
  }
  return all;
}

/** Messages of step `k` before they are weighed: relu(W_R^k r ⊙ i_k), [questions · relations, dim]. @param relation [relations, dim] */
export function matches(
  tape: SimdTape,
  relation: HostTaped,
  asked: readonly HostTaped[],
  k: number,
  textOf: Int32Array,
): HostTaped {
  const count = relation.rows;
  const relationOf = Int32Array.from({ length: textOf.length * count }, (_, slot) => slot % count);
  const questionOf = relationOf.map((_, slot) => textOf[Math.floor(slot / count)]!);
  const messages = tape.rows(tape.times(relation, `message.${k}`), relationOf);
  return tape.relu(tape.multiply(messages, tape.rows(asked[k]!, questionOf)));
}

/** Result of a walk of shares. */
export interface Walked {
  /** [rows, 1]: scores after the last step, of which those that are reached count. */
  scores: HostTaped;
  /** [rows, 1] each: shares after every step but the last. */
  shares: HostTaped[];
  /** [rows, dim] after the last step. */
  states: HostTaped;
  /** [numRelations, dim] */
  relation: HostTaped;
}

/**
 * The walk of shares over the subgraphs of some questions.
 * @param asked instructions by step, [texts, dim]
 * @param textOf int32 [questions]: row of each question's instructions
 * @param after relations that it has and states that it begins with, such as another walk’s; default its own
 */
export function reason(
  tape: SimdTape,
  asked: readonly HostTaped[],
  textOf: Int32Array,
  batch: EntityBatch,
  { numRelations, dim }: Pick<NsmShape, 'numRelations' | 'dim'>,
  after?: Pick<Walked, 'states' | 'relation'>,
): Walked {
  const relation = after?.relation ?? tape.parameter('relation', dim);
  const summed = (weights: HostTaped, table: HostTaped, tableRows: Int32Array) =>
    tape.weightedSums(weights, table, batch.rowOf, tableRows, batch.entities.length);
  const fresh = () => {
    const tableRows = batch.slotOf.map((slot) => slot % numRelations);
    const table = tape.product(relation, tape.parameter('kind', dim));
    return tape.sigmoid(summed(tape.constant(batch.kinds, 1), table, tableRows));
  };
  let states = after?.states ?? fresh();
  let last = tape.constant(batch.initialWeights, 1);
  let scores = last;
  const shares: HostTaped[] = [];
  asked.forEach((_, k) => {
    // W_E [e ; ẽ] in two parts: the second is made of a question's few messages before they are added up.
    const table = tape.times(matches(tape, relation, asked, k, textOf), `arrival.${k}`);
    const weights = arrivals(tape, last, batch);
    states = tape.relu(tape.add(tape.layer(states, `state.${k}`), summed(weights, table, batch.slotOf)));
    scores = tape.product(states, tape.parameter('share', 1));
    if (k + 1 < asked.length) shares.push((last = reachedShares(tape, scores, batch.bounds, batch.reached[k]!)));
  });
  return { scores, shares, states, relation };
}
