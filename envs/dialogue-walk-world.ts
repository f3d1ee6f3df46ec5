/** What `kgwalk/OpenDialKG-v1` is given, what it shows, and what its copies share. */
import type { Message, Sender } from '../datasets/dialogue.js';
import type { WalkSample, WalkTask } from '../datasets/walk-sample.js';
import type { RelationColumn } from '../src/kg/adjacency.js';
import type { Graph } from '../src/kg/graph.js';
import type { Path, Triple } from '../src/kg/path.js';
import { WorkbenchError } from '../src/run/errors.js';
import { defaultWalkRules, initialState, type WalkRules } from './rules.js';
import type { EnvSettings } from './settings.js';
import { dict, discrete, ids, multiBinary, oneOf, relationIds, sequence, text, type Space } from './spaces.js';
import type { StateTextFields } from './state-text/fields.js';
import type { Potential } from './walk-reward.js';

/** What `makeEnv('kgwalk/OpenDialKG-v1', …)` takes. */
export interface DialogueWalkOptions {
  graph: Graph;
  /** At least one must have a walkable start. */
  samples: readonly WalkSample[];
  /** Default: two steps, no stay at the first. */
  rules?: WalkRules;
  /** Default: 1 for the gold path, 0 for any other walk. */
  reward?: EnvSettings['reward'];
  /** Shapes the reward; default none. */
  potential?: Potential;
  /** Discount used by the shaping, in (0, 1]; must be the trainer's. Default 1. */
  gamma?: number;
  /** Under which id it is known. Default `kgwalk/OpenDialKG-v1`. */
  id?: string;
}

/** What an agent sees: the task, never the gold. The arrays are views that must not be written to. */
export interface DialogueWalkObservation extends StateTextFields {
  task: WalkTask;
  messages: readonly Message[];
  sender: Sender;
  /** Entity id. */
  start: number;
  /** Entity id. */
  current: number;
  /** Steps taken. */
  hop: number;
  /** Steps taken, stays included. */
  path: Path;
  /** [degree]: relation ids of the out-edges, a view into the graph: uint16 up to 65,536 relations, else int32. */
  relations: RelationColumn;
  /** int32 [degree]: entity ids at their ends, a view into the graph. */
  tails: Int32Array;
  /** uint8 [length of the action list], 1 = legal, all ones but with `noReturn`: action `degree`, where it exists, is staying. */
  actionMask: Uint8Array;
}

/** Id of the environment that walks from a dialogue’s entity. */
export const dialogueWalkId = 'kgwalk/OpenDialKG-v1';

/** What all copies of an environment share, made once. */
export interface DialogueWalkWorld extends Required<Omit<DialogueWalkOptions, 'potential'>> {
  potential: Potential | undefined;
  /** int32: the samples that a seeded reset draws from, those whose start has a legal action. */
  walkable: Int32Array;
  /** uint8 [largest action set], ones: the masks are views of it. */
  ones: Uint8Array;
  actionSpace: Space<number>;
  observationSpace: Space<DialogueWalkObservation>;
}

/** @throws WorkbenchError `data` when no sample can be walked */
export function dialogueWalkWorld(options: DialogueWalkOptions): DialogueWalkWorld {
  const { graph, samples, potential } = options;
  const rules = options.rules ?? defaultWalkRules;
  const reward = options.reward ?? { kind: 'path', hit: 1, miss: 0 };
  const walkable = Int32Array.from(samples.keys()).filter(
    (index) => !initialState(graph, samples[index]!.task.start, rules).done,
  );
  if (walkable.length === 0) {
    throw new WorkbenchError(
      'data',
      `expected a sample whose start has edges, got none, at ${samples.length} samples`,
      {
        hint: `Import samples that fit the graph "${graph.name}".`,
      },
    );
  }
  let maxDegree = 0;
  for (let entity = 0; entity < graph.numEntities; entity++) maxDegree = Math.max(maxDegree, graph.degree(entity));
  return {
    id: options.id ?? dialogueWalkId,
    graph,
    samples,
    rules,
    reward,
    potential,
    gamma: options.gamma ?? 1,
    walkable,
    ones: new Uint8Array(maxDegree + 1).fill(1),
    actionSpace: discrete(maxDegree + 1),
    observationSpace: observationSpace(graph, rules, maxDegree),
  };
}

function observationSpace(graph: Graph, { horizon }: WalkRules, maxDegree: number): Space<DialogueWalkObservation> {
  const sender = oneOf<Sender>('user', 'assistant');
  const messages = sequence(dict<Message>({ sender, text: text() }));
  const entity = discrete(graph.numEntities + 1, -1);
  const triple: Space<Triple> = {
    contains: (value): value is Triple =>
      Array.isArray(value) && value.length === 3 && value.every((id) => Number.isInteger(id)),
    sample: (rng) => [entity.sample(rng), rng.integer(graph.numRelations + 1), entity.sample(rng)],
  };
  const paths = sequence(sequence(triple));
  return dict<DialogueWalkObservation>({
    task: dict<WalkTask>({
      id: text(),
      dialogueId: text(),
      messages,
      sender,
      start: entity,
      startName: text(),
      earlierPaths: paths,
    }),
    messages,
    sender,
    earlierPaths: sequence(text()),
    startEntity: text(),
    walked: text(),
    currentEntity: text(),
    step: discrete(horizon + 1, 1),
    start: entity,
    current: entity,
    hop: discrete(horizon + 1),
    path: sequence(triple),
    relations: relationIds(graph.numRelations, maxDegree),
    tails: ids(graph.numEntities, maxDegree),
    actionMask: multiBinary(maxDegree + 1),
  });
}
