/** A memory of facts on the tape: keys are a head and a relation, values a tail. */
import type { HostTaped, SimdTape } from '../../../src/nn/simd/tape.js';
import { nearestFacts, type Subgraph, type Subgraphs } from '../../../src/kg/subgraphs.js';
import { type LaidQuestions, layQuestions, type Placed, topicsOf } from './laid-questions.js';

/** Facts of several questions, nearest first, in typed arrays. */
export interface MemoryBatch extends LaidQuestions {
  /** int32 [questions + 1]: facts of question `q` are `offsets[q] .. offsets[q + 1] - 1`. */
  offsets: Int32Array;
  /** int32 [facts]: row of the head. */
  heads: Int32Array;
  /** int32 [facts]: question · relations + relation. */
  slots: Int32Array;
  /** int32 [facts]: row of the tail. */
  tails: Int32Array;
}

/** @param most facts of a question @param cut subgraph of each task */
export function memoryBatch(
  { numRelations, selfLoop }: Pick<Subgraphs, 'numRelations' | 'selfLoop'>,
  tasks: readonly Placed[],
  most: number,
  cut: readonly Subgraph[],
): MemoryBatch {
  const laid = layQuestions(tasks, cut);
  const facts = cut.map((subgraph, q) => {
    const topics = topicsOf(tasks[q]!).map((topic) => subgraph.entities.indexOf(topic));
    return nearestFacts(
      subgraph,
      topics.filter((index) => index >= 0),
      selfLoop,
      most,
    );
  });
  const offsets = new Int32Array(facts.length + 1);
  facts.forEach(({ heads }, q) => (offsets[q + 1] = offsets[q]! + heads.length));
  const column = (of: 'heads' | 'relations' | 'tails', firstOf: (q: number) => number) => {
    const all = new Int32Array(offsets.at(-1)!);
    facts.forEach((one, q) => one[of].forEach((value, i) => (all[offsets[q]! + i] = firstOf(q) + value)));
    return all;
  };
  return {
    ...laid,
    offsets,
    heads: column('heads', (q) => laid.bounds[q]!),
    slots: column('relations', (q) => q * numRelations),
    tails: column('tails', (q) => laid.bounds[q]!),
  };
}

/**
 * Attention of a question to each entity as a tail: p = softmax over its facts of `ofHead + ofRelation`, summed by tail.
 * @param ofHead [rows, 1] @param ofRelation [questions · relations, 1]
 * @returns [rows, 1], summing to 1 a question that has facts
 */
export function addressed(
  tape: SimdTape,
  ofHead: HostTaped,
  ofRelation: HostTaped,
  { offsets, heads, slots, tails }: MemoryBatch,
): HostTaped {
  const shares = new Float64Array(heads.length);
  const out = tape.buffer(ofHead.rows).fill(0);
  for (let q = 0; q + 1 < offsets.length; q++) {
    const [begin, end] = [offsets[q]!, offsets[q + 1]!];
    let most = -Infinity;
    for (let i = begin; i < end; i++) {
      shares[i] = ofHead.values[heads[i]!]! + ofRelation.values[slots[i]!]!;
      most = Math.max(most, shares[i]!);
    }
    let sum = 0;
    for (let i = begin; i < end; i++) sum += shares[i] = Math.exp(shares[i]! - most);
    for (let i = begin; i < end; i++) out[tails[i]!]! += shares[i]! /= sum;
  }
  return tape.taped(out, 1, (grads) => {
    for (let q = 0; q + 1 < offsets.length; q++) {
      let whole = 0;
      for (let i = offsets[q]!; i < offsets[q + 1]!; i++) whole += shares[i]! * grads[tails[i]!]!;
      for (let i = offsets[q]!; i < offsets[q + 1]!; i++) {
        const grad = shares[i]! * (grads[tails[i]!]! - whole);
        if (ofHead.grads) ofHead.grads[heads[i]!]! += grad;
        if (ofRelation.grads) ofRelation.grads[slots[i]!]! += grad;
      }
    }
  });
}
