/** Worked examples for the report: what was said, what was chosen, what the agent ranked, where it first went wrong. */
import type { Answer } from '../agents/agent.js';
import type { WalkSample } from '../datasets/walk-sample.js';
import type { Graph, Path } from '../src/kg/graph.js';
import type { ExampleWalk } from '../src/run/records.js';
import { Rng } from '../src/run/seeds.js';

/** Walks shown of each beam. */
const shownWalks = 5;

/** Names of a path's triples; `?` for what the graph lacks. */
export function namedPath(path: Path, graph: Graph): [string, string, string][] {
  return path.map(([head, relation, tail]) => [
    graph.entityNames[head] ?? '?',
    graph.relationNames[relation] ?? '?',
    graph.entityNames[tail] ?? '?',
  ]);
}

/** Draws examples among the samples that were answered; the same ones for every agent. */
export function exampleWalks(
  samples: readonly WalkSample[],
  answers: readonly (Answer | undefined)[],
  graph: Graph,
  count: number,
): ExampleWalk[] {
  const order = Rng.named(0, 'evaluation/examples').shuffle(samples.map((_, i) => i));
  const shown = order.filter((i) => answers[i]?.paths.length).slice(0, count);
  return shown.map((i) => exampleWalk(samples[i]!, answers[i]!, graph));
}

function exampleWalk({ task, gold }: WalkSample, { paths }: Answer, graph: Graph): ExampleWalk {
  const best = paths[0]!.path;
  const hops = Math.max(best.length, gold.path.length);
  let wrong = 0;
  while (wrong < hops && String(best[wrong]) === String(gold.path[wrong])) wrong++;
  return {
    id: task.id,
    messages: task.messages.map(({ sender, text }) => ({ sender, text })),
    sender: task.sender,
    start: task.startName,
    gold: namedPath(gold.path, graph),
    beam: paths.slice(0, shownWalks).map(({ path, logProb }) => ({ path: namedPath(path, graph), logProb })),
    ...(wrong < hops && { firstWrongHop: wrong }),
  };
}
