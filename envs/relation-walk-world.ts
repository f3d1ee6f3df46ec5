/** What `kgwalk/RelationWalk-v1` is given, what it shows, and what its copies share. */
import { excludedTopics, type QuestionSample, type QuestionTask, type Topic } from '../datasets/question.js';
import type { Graph } from '../src/kg/graph.js';
import { WorkbenchError } from '../src/run/errors.js';
import { frontierTrie, type FrontierNode, type FrontierTrie } from './frontier-trie.js';
import { goldSet, type GoldSet } from './relation-walk-reward.js';
import { defaultRelationRules, initialRelationState, type RelationWalkRules } from './relation-walk-rules.js';
import type { RelationWalkSettings } from './relation-walk-settings.js';
import { dict, discrete, ids, multiBinary, type Space } from './spaces.js';

/** What `makeEnv('kgwalk/RelationWalk-v1', …)` takes. */
export interface RelationWalkOptions {
  graph: Graph;
  /** At least one must have a walkable topic. */
  samples: readonly QuestionSample[];
  /** Default: three relations, learned STOP. */
  rules?: RelationWalkRules;
  /** Default `f1`. */
  reward?: RelationWalkSettings['reward'];
  /** Frontiers, shared with whoever else walks the graph. Default: its own, of 256 MiB. */
  frontiers?: FrontierTrie;
}

/** What an agent sees: the task, never the gold. The arrays must not be written to. */
export interface RelationWalkObservation {
  task: QuestionTask;
  /** int32: topics that the graph has. */
  topics: Int32Array;
  /** int32 [size], ascending: where the walk stands. */
  entities: Int32Array;
  /** float64 [size]: relation paths that lead to each. */
  counts: Float64Array;
  /** int32 [step]: relations walked. */
  relations: Int32Array;
  /** Relations walked, 0 before the first. */
  step: number;
  /** uint8 [numRelations + 1]: relations, then STOP. All zero once the walk is over. */
  actionMask: Uint8Array;
}

/** What all copies of an environment share, made once. */
export interface RelationWalkWorld extends Required<RelationWalkOptions> {
  /** int32: the samples that a seeded reset draws from: questions for entities whose topics have a legal action. */
  walkable: Int32Array;
  /** The right answers of a sample. */
  golds(sample: number): GoldSet;
  actionSpace: Space<number>;
  observationSpace: Space<RelationWalkObservation>;
}

/** @throws WorkbenchError `data` when no sample can be walked */
export function relationWalkWorld(options: RelationWalkOptions): RelationWalkWorld {
  const { graph, samples } = options;
  const rules = options.rules ?? defaultRelationRules;
  // Not through the shared frontiers: what is checked once need not be remembered.
  const probe = frontierTrie(graph, 0);
  const walkable = Int32Array.from(samples.keys()).filter((index) => {
    const { task } = samples[index]!;
    return task.form === 'entities' && !initialRelationState(questionRoot(probe, task), rules).done;
  });
  if (walkable.length === 0) {
    throw new WorkbenchError(
      'data',
      `expected a question whose topic has edges, got none, at ${samples.length} questions`,
      {
        hint: `Use questions that fit the graph "${graph.name}".`,
      },
    );
  }
  const golds = new Map<number, GoldSet>();
  return {
    graph,
    samples,
    rules,
    reward: options.reward ?? 'f1',
    frontiers: options.frontiers ?? frontierTrie(graph),
    walkable,
    golds(sample) {
      let gold = golds.get(sample);
      if (!gold) golds.set(sample, (gold = goldSet(samples[sample]!.gold)));
      return gold;
    },
    actionSpace: discrete(graph.numRelations + 1),
    observationSpace: observationSpace(graph, rules),
  };
}

/** Where the walk over a question's relations begins, under the question's own rule of what never comes back. */
export function questionRoot(
  frontiers: FrontierTrie,
  task: Pick<QuestionTask, 'topics' | 'topicsReturn'>,
): FrontierNode {
  return frontiers.root(
    task.topics.map(({ entity }) => entity),
    excludedTopics(task),
  );
}

function observationSpace(graph: Graph, { horizon }: RelationWalkRules): Space<RelationWalkObservation> {
  const entities = ids(graph.numEntities, graph.numEntities);
  return dict<RelationWalkObservation>({
    task: taskSpace(graph),
    topics: entities,
    entities,
    counts: {
      contains: (value): value is Float64Array => value instanceof Float64Array && value.every((count) => count > 0),
      sample: (rng) => Float64Array.from({ length: rng.integer(4) }, () => 1 + rng.integer(3)),
    },
    relations: ids(graph.numRelations, horizon),
    step: discrete(horizon + 1),
    actionMask: multiBinary(graph.numRelations + 1),
  });
}

/** Questions for entities, as agents are asked them. */
function taskSpace(graph: Graph): Space<QuestionTask> {
  const isTopic = (topic: Topic) => typeof topic.name === 'string' && topic.entity < graph.numEntities;
  return {
    contains: (value): value is QuestionTask => {
      const { id, question, topics } = (value ?? {}) as Partial<QuestionTask>;
      return typeof id === 'string' && typeof question === 'string' && Array.isArray(topics) && topics.every(isTopic);
    },
    sample: (rng) => {
      const entity = rng.integer(graph.numEntities);
      const topics = [{ name: graph.entityNames[entity]!, entity }];
      return { id: rng.uint32().toString(36), subset: 'sampled', question: 'what is it', topics, form: 'entities' };
    },
  };
}
