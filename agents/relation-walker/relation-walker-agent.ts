/** A trained relation walker as an agent that answers questions. */
import type { QuestionTask } from '../../datasets/question.js';
import type { FrontierTrie } from '../../envs/relation-walk/frontier-trie.js';
import { initialRelationState, type RelationWalkRules } from '../../envs/relation-walk/rules.js';
import { questionRoot } from '../../envs/relation-walk/relation-walk-env.js';
import type { Graph } from '../../src/kg/graph.js';
import { chainAnswer, noAnswer } from '../chain-answer.js';
import type { QuestionAgent } from '../question-agent.js';
import { decodeChains } from './decode.js';
import type { HostNetwork } from './host-network.js';
import type { QuestionVectors } from './question-vectors.js';

/** The trained network with all that it walks over and reads. */
export interface RelationWalkerAgentOptions {
  name: string;
  graph: Graph;
  /** Where frontiers come from; may be shared with an environment over the same graph. */
  frontiers: FrontierTrie;
  /** Those it was trained with. */
  rules: RelationWalkRules;
  network: HostNetwork;
  /** Scaled vectors of some questions, scaled as in training: encoded together, each text once. */
  vectors(tasks: readonly QuestionTask[], signal?: AbortSignal): Promise<QuestionVectors>;
  /** Walks followed at once; 1 is greedy, as the recipe has it. Default 1. */
  beamWidth?: number;
  note?: string;
}

/**
 * Inputs: the question with `[E]` for its topic, and the topic. Calls: none; one text vector a question. It walks the most
 * probable relations from the topic until it chooses STOP or reaches the horizon. Output: everything at the end, in
 * canonical order, with the relations, one path of facts an answer and the probability of the walk.
 *
 * Weights are those of the snapshot in `network`. Truth questions are abstained from: it finds entities.
 */
export function relationWalkerAgent(options: RelationWalkerAgentOptions): QuestionAgent {
  const { name, graph, frontiers, rules, network, beamWidth = 1, note } = options;
  /** What the network reads, by row of the vectors that `prepare` made. */
  let known: { vectors: QuestionVectors; reads: Map<number, Float64Array> } | undefined;

  const readOf = async (task: QuestionTask, signal: AbortSignal | undefined) => {
    let held = known?.vectors.rowOf.has(task.id) ? known : undefined;
    held ??= { vectors: await options.vectors([task], signal), reads: new Map() };
    const { matrix, dim, rowOf } = held.vectors;
    const row = rowOf.get(task.id)!;
    let read = held.reads.get(row);
    if (!read) held.reads.set(row, (read = network.read(matrix.subarray(row * dim, (row + 1) * dim))));
    return read;
  };

  return {
    name,
    ...(note !== undefined && { note }),
    topicGiven: true,
    prompted: false,
    async prepare(tasks, signal) {
      known = { vectors: await options.vectors(tasks, signal), reads: new Map() };
    },
    async answer(task, { trace, signal }) {
      if (task.form !== 'entities') return noAnswer('form');
      const root = questionRoot(frontiers, task);
      trace({ event: 'start', entities: root.topics });
      const initial = initialRelationState(root, rules, task.hops);
      if (initial.done) return noAnswer('no topic');
      const read = await readOf(task, signal);
      let graphReads = 0;
      const [best] = decodeChains(
        initial,
        (relations) => {
          graphReads++;
          return network.scores(read, relations);
        },
        beamWidth,
      );
      const { node, logProb, stopped } = best!;
      for (const relation of node.relations) {
        trace({ event: 'graph', operation: `follow ${graph.relationNames[relation]!}`, reads: 1 });
      }
      const stop = stopped ? 'stop' : 'depth';
      trace({ event: 'stop', reason: stop });
      return chainAnswer(graph, node, { stop, confidence: Math.exp(logProb), cost: { encodes: 1, graphReads } });
    },
  };
}
