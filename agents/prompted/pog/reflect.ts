/** Backtracking: entities that were visited and dropped, and the choice of those to revisit. */
import type { QuestionTask } from '../../../datasets/question.js';
import type { Graph } from '../../../src/kg/graph.js';
import type { DecisionClient } from '../../../src/llm/decision.js';
import { frontierOf, namedInQuestion, narrowed, pathText, putTogether, type Walk } from '../frontier-steps.js';
import { type Notes, noteBlocks } from './memory.js';
import { reflectExamples, reflectTask } from './prompts.js';

/** All visited entities, with a path to each. Homonyms are separate entities: names are not compared. */
export interface Pool {
  /** All ends of the walk, expanded or not. */
  add(walk: Walk): void;
  /** Entities at no walk's end and not revisited: those named in the question first, then the most recent. */
  leftBehind(graph: Graph, task: QuestionTask, walks: readonly Walk[]): number[];
  /** The ways to some of them. */
  comeBack(entities: readonly number[]): Walk[];
}

/** An empty one. */
export function openPool(): Pool {
  const ways = new Map<number, Walk>();
  const visited = new Set<number>();
  return {
    add(walk) {
      for (const entity of frontierOf(walk).entities) if (!ways.has(entity)) ways.set(entity, walk);
    },
    leftBehind(graph, task, walks) {
      for (const walk of walks) for (const entity of frontierOf(walk).entities) visited.add(entity);
      const left = [...ways.keys()].filter((entity) => !visited.has(entity)).reverse();
      return [...new Set([...namedInQuestion(graph, task, left), ...left])];
    },
    comeBack(entities) {
      for (const entity of entities) visited.add(entity);
      return putTogether(entities.map((entity) => narrowed(ways.get(entity)!, new Set([entity]))));
    },
  };
}

/** Which entities to come back to, by one call; empty for none. Undefined where the reply cannot be read. */
export async function reflect(
  graph: Graph,
  { id: questionId, question }: QuestionTask,
  client: DecisionClient,
  { notes, walks, left }: { notes: Notes; walks: readonly Walk[]; left: readonly number[] },
): Promise<number[] | undefined> {
  const shown = walks.map((walk) => `${pathText(graph, walk)} (${frontierOf(walk).entities.length})`);
  const { reply } = await client.decide({
    ...{ kind: 'choose-many', phase: 'reflect', questionId, question, evidence: [] },
    ...{ task: reflectTask, examples: reflectExamples, maxChoices: left.length },
    context: [...noteBlocks(notes), { label: 'Paths', lines: shown }],
    candidates: left.map((entity) => ({ kind: 'entity', entity, text: graph.entityNames[entity]! })),
  });
  return reply?.choices.map((choice) => left[choice]!);
}
