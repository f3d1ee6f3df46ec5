/** Environments by id: ours, and those that users register. */
import { WorkbenchError } from '../src/run/errors.js';
import { DialogueWalkEnv } from './dialogue-walk-env.js';
import {
  dialogueWalkId,
  dialogueWalkWorld,
  type DialogueWalkObservation,
  type DialogueWalkOptions,
} from './dialogue-walk-world.js';
import type { Env } from './env.js';
import { questionEdgeWalkId, questionEdgeWalkWorld, type QuestionEdgeWalkOptions } from './question-edge-walk.js';
import { RelationWalkEnv, relationWalkId } from './relation-walk-env.js';
import { relationWalkWorld, type RelationWalkObservation, type RelationWalkOptions } from './relation-walk-world.js';
import { VectorEnv, type Autoreset } from './vector-env.js';

/** Options and observation of each known id; a plugin in TypeScript may extend it by declaration merging. */
export interface EnvTypes {
  [dialogueWalkId]: { options: DialogueWalkOptions; observation: DialogueWalkObservation };
  [relationWalkId]: { options: RelationWalkOptions; observation: RelationWalkObservation };
  [questionEdgeWalkId]: { options: QuestionEdgeWalkOptions; observation: DialogueWalkObservation };
}

/** Prepares what copies share, once, and returns what makes a copy. */
export type EnvFactory<Options, Observation> = (options: Options) => () => Env<Observation>;

type EnvId = keyof EnvTypes;

// eslint-disable-next-line @typescript-eslint/no-explicit-any -- one map holds factories of every type; makeEnv restores it
const factories = new Map<string, EnvFactory<any, any>>();

/** Makes an environment known to `makeEnv` and to configuration files. An id that exists is replaced. */
export function registerEnv<Options, Observation>(id: string, factory: EnvFactory<Options, Observation>): void {
  if (!/^[\w-]+\/[\w-]+-v\d+$/.test(id)) {
    throw new WorkbenchError('usage', `expected an id like mine/Walk-v1, got "${id}", at registerEnv`);
  }
  factories.set(id, factory);
}

/** Ids that `makeEnv` knows, in alphabetical order. */
export function envIds(): string[] {
  return [...factories.keys()].sort();
}

/** @throws WorkbenchError `usage` for an id that nobody registered */
export function makeEnv<Id extends EnvId>(id: Id, options: EnvTypes[Id]['options']): Env<EnvTypes[Id]['observation']> {
  return prepare(id, options)();
}

/**
 * Many copies that share graph, samples and masks.
 * @param numEnvs number of copies
 * @throws WorkbenchError `usage` for an id that nobody registered
 */
export function makeVectorEnv<Id extends EnvId>(
  id: Id,
  options: EnvTypes[Id]['options'],
  numEnvs: number,
  autoreset?: Autoreset,
): VectorEnv<EnvTypes[Id]['observation']> {
  const make = prepare(id, options);
  return new VectorEnv(Array.from({ length: numEnvs }, make), autoreset);
}

function prepare<Id extends EnvId>(id: Id, options: EnvTypes[Id]['options']): () => Env<EnvTypes[Id]['observation']> {
  const factory = factories.get(id);
  if (!factory) {
    throw new WorkbenchError('usage', `expected a known environment, got "${id}", at makeEnv`, {
      hint: `Known are ${envIds().join(', ')}.`,
    });
  }
  return factory(options);
}

registerEnv(dialogueWalkId, (options: DialogueWalkOptions) => {
  const world = dialogueWalkWorld(options);
  return () => new DialogueWalkEnv(world);
});

registerEnv(relationWalkId, (options: RelationWalkOptions) => {
  const world = relationWalkWorld(options);
  return () => new RelationWalkEnv(world);
});

registerEnv(questionEdgeWalkId, (options: QuestionEdgeWalkOptions) => {
  const world = questionEdgeWalkWorld(options);
  return () => new DialogueWalkEnv(world);
});
