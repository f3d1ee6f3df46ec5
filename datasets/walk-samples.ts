/** From dialogues and a graph to samples: one for each path that a speaker chose. */
import type { Graph } from '../src/kg/graph.js';
import type { Path, Triple } from '../src/kg/path.js';
import type { Dialogue, PathAction } from './dialogue.js';
import type { WalkSample } from './walk-sample.js';

/** Which dialogues and whose paths become samples. */
export interface WalkSampleOptions {
  /** `assistant` keeps the paths that the assistant chose; earlier paths of both speakers stay visible. Default `all`. */
  turns?: 'all' | 'assistant';
  /** Only the first dialogues; null or absent: all. */
  maxDialogues?: number | null;
}

/**
 * Samples in the order of the dialogues. A sample whose start has no edges or whose gold is not in the graph stays and
 * counts as a miss. `#n` of an id counts all paths of the dialogue from 1, so ids do not depend on `turns`.
 */
export function walkSamples(
  dialogues: readonly Dialogue[],
  graph: Graph,
  { turns = 'all', maxDialogues = null }: WalkSampleOptions = {},
): WalkSample[] {
  const samples: WalkSample[] = [];
  for (const dialogue of maxDialogues === null ? dialogues : dialogues.slice(0, maxDialogues)) {
    const paths = dialogue.paths.map((action) => pathOf(action, graph));
    dialogue.paths.forEach((action, index) => {
      if (turns === 'assistant' && action.sender !== 'assistant') return;
      const path = paths[index]!;
      const [start] = path[0]!;
      const [, , target] = path.at(-1)!;
      samples.push({
        task: {
          id: `${dialogue.id}#${index + 1}`,
          dialogueId: dialogue.id,
          messages: dialogue.messages.slice(0, action.position),
          sender: action.sender,
          start,
          startName: action.triples[0]![0],
          earlierPaths: paths.slice(0, index),
        },
        gold: { path, target, inGraph: graph.holds(path) },
      });
    });
  }
  return samples;
}

function pathOf(action: PathAction, graph: Graph): Path {
  return action.triples.map(([head, relation, tail]): Triple => [
    graph.entityId(head),
    graph.relationId(relation),
    graph.entityId(tail),
  ]);
}
