/** A memory of facts: keys are a head and a relation, values a tail. */
import { nearestFacts, type Subgraph, type Subgraphs } from '../../../src/kg/subgraphs.js';
import { type LaidQuestions, layQuestions, type Placed, topicsOf } from './laid-questions.js';

/**
 * Facts of several questions, nearest first, in typed arrays. The last of each is STOP: its head and tail are the row behind all
 * entities, its relation the one behind all relations.
 */
export interface MemoryBatch extends LaidQuestions {
  /** int32 [questions + 1]: facts of question `q` are `offsets[q] .. offsets[q + 1] - 1`. */
  offsets: Int32Array;
  /** int32 [facts]: row of the head. */
  heads: Int32Array;
  /** int32 [facts]: relation. */
  relations: Int32Array;
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
  facts.forEach(({ heads }, q) => (offsets[q + 1] = offsets[q]! + heads.length + 1));
  const column = (of: 'heads' | 'relations' | 'tails', stop: number) => {
    const all = new Int32Array(offsets.at(-1)!).fill(stop);
    facts.forEach((one, q) => {
      const first = of === 'relations' ? 0 : laid.bounds[q]!;
      one[of].forEach((value, i) => (all[offsets[q]! + i] = first + value));
    });
    return all;
  };
  const behind = laid.entities.length;
  return {
    ...laid,
    offsets,
    heads: column('heads', behind),
    relations: column('relations', numRelations),
    tails: column('tails', behind),
  };
}
