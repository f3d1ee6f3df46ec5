/** Which right answers a walk can get to at all: the upper bound of every agent that answers from the graph. */
import { excludedTopics } from '../../datasets/question.js';
import type { QuestionSample } from '../../datasets/question.js';
import type { Graph } from '../../src/kg/graph.js';

/** Relations that a walk may take. */
const horizon = 3;

/** Some of a question's right answers can be walked to, or all of them. */
export interface GoldReach {
  some: boolean;
  all: boolean;
}

/** A function of one sample; O(edges within three relations of its topics), less where the answers are near. */
export function goldReach(graph: Graph): (sample: QuestionSample) => GoldReach {
  // One array for all questions: an entity was met for this question where its mark is the question's number.
  const marks = new Int32Array(graph.numEntities);
  let mark = 0;
  return ({ task, gold }) => {
    mark++;
    const wanted = new Set(gold.answers.flatMap(({ entity }) => (entity >= 0 ? [entity] : [])));
    const all = wanted.size === gold.answers.length;
    const topics = task.topics.flatMap(({ entity }) => (entity >= 0 ? [entity] : []));
    const excluded = new Set(excludedTopics(task));
    const found = new Set<number>();
    let frontier = topics;
    for (const topic of topics) marks[topic] = mark;
    for (let hop = 0; hop < horizon && found.size < wanted.size; hop++) {
      const next: number[] = [];
      for (const entity of frontier) {
        for (let edge = graph.offsets[entity]!; edge < graph.offsets[entity + 1]!; edge++) {
          const tail = graph.tails[edge]!;
          // A topic is marked from the start, and still an answer where walks may come back to it.
          if (wanted.has(tail) && !excluded.has(tail)) found.add(tail);
          if (marks[tail] === mark) continue;
          marks[tail] = mark;
          next.push(tail);
        }
      }
      frontier = next;
    }
    return { some: found.size > 0, all: all && found.size > 0 && found.size === wanted.size };
  };
}
