/** Environments by id: ours, and those that users register. */
import { WorkbenchError } from '../src/run/errors.js';
import { describeValue, nearestName } from '../src/run/printable.js';
import {
  CartPole,
  cartPoleId,
  type CartPoleOptions,
  Grid,
  gridId,
  type GridOptions,
  MaskedBandit,
  maskedBanditId,
  type MaskedBanditOptions,
} from './classic.js';
import {
  DialogueWalkEnv,
  dialogueWalkId,
  type DialogueWalkObservation,
  type DialogueWalkOptions,
  dialogueWalkWorld,
} from './dialogue-walk/dialogue-walk-env.js';
import type { Env } from './env.js';
import { LinkQueryBatch } from './link-query/link-query-batch.js';
import { LinkQueryEnv } from './link-query/link-query-env.js';
import { linkQueryId, linkQueryWorld, type LinkQueryObservation, type LinkQueryOptions } from './link-query/world.js';
import {
  RelationWalkEnv,
  relationWalkId,
  type RelationWalkObservation,
  type RelationWalkOptions,
  relationWalkWorld,
} from './relation-walk/relation-walk-env.js';
import type { MaskedVector } from './spaces.js';
import { VectorEnv, type Autoreset, type BatchedEnv } from './vector-env.js';

/** Options and observation of each known id; a plugin in TypeScript may extend it by declaration merging. */
export interface EnvTypes {
  [dialogueWalkId]: { options: DialogueWalkOptions; observation: DialogueWalkObservation };
  [relationWalkId]: { options: RelationWalkOptions; observation: RelationWalkObservation };
  [linkQueryId]: { options: LinkQueryOptions; observation: LinkQueryObservation };
  [cartPoleId]: { options: CartPoleOptions; observation: Float32Array };
  [gridId]: { options: GridOptions; observation: Float32Array };
  [maskedBanditId]: { options: MaskedBanditOptions; observation: MaskedVector };
}

/** Prepares what copies share, once, and returns what makes a copy. */
export type EnvFactory<Options, Observation> = (options: Options) => () => Env<Observation>;

/** Makes many copies that share memory and are stepped together; equal to as many single ones, episode by episode. */
export type BatchFactory<Options, Observation> = (
  options: Options,
  numEnvs: number,
  autoreset?: Autoreset,
) => BatchedEnv<Observation>;

type EnvId = keyof EnvTypes;

// eslint-disable-next-line @typescript-eslint/no-explicit-any -- one map holds factories of every type; makeEnv restores it
const factories = new Map<string, { factory: EnvFactory<any, any>; batched: BatchFactory<any, any> | undefined }>();

/**
 * Makes an environment known to `makeEnv` and to configuration files.
 * @param batched makes copies that are stepped together; default: a `VectorEnv` of single ones
 * @throws WorkbenchError `usage` for an id of another form, or that is taken
 */
export function registerEnv<Options, Observation>(
  id: string,
  factory: EnvFactory<Options, Observation>,
  batched?: BatchFactory<Options, Observation>,
): void {
  if (!/^[\w-]+\/[\w-]+-v\d+$/.test(id)) {
    throw new WorkbenchError('usage', `expected an id like mine/Walk-v1, got "${id}", at registerEnv`);
  }
  if (factories.has(id)) {
    throw new WorkbenchError('usage', `expected the id of a new environment, got "${id}", which is registered already`);
  }
  factories.set(id, { factory, batched });
}

/** Ids that `makeEnv` knows, in alphabetical order. */
export const envIds = (): string[] => [...factories.keys()].sort();

/** @throws WorkbenchError `usage` for an unregistered id */
export function makeEnv<Id extends EnvId>(id: Id, options: EnvTypes[Id]['options']): Env<EnvTypes[Id]['observation']> {
  return registeredEnv(id).factory(options)();
}

/**
 * Factory of copies of an environment of any type: `env.id` and `env.options` of settings.
 * @throws WorkbenchError `usage` for an unregistered id; what its factory throws
 */
export function envMaker(id: string, options: Readonly<Record<string, unknown>> = {}): () => Env<unknown> {
  return registeredEnv(id).factory(options) as () => Env<unknown>;
}

/**
 * Many copies that share graph, samples and masks, stepped together if the environment supports it.
 * @param numEnvs number of copies
 * @throws WorkbenchError `usage` for an unregistered id
 */
export function makeVectorEnv<Id extends EnvId>(
  id: Id,
  options: EnvTypes[Id]['options'],
  numEnvs: number,
  autoreset?: Autoreset,
): BatchedEnv<EnvTypes[Id]['observation']> {
  const { factory, batched } = registeredEnv(id);
  if (batched) return batched(options, numEnvs, autoreset);
  return new VectorEnv(Array.from({ length: numEnvs }, factory(options)), autoreset);
}

/** The parts of a registered environment. @throws WorkbenchError `usage` for another id, with the nearest */
export function registeredEnv(id: string, place = 'makeEnv') {
  const known = factories.get(id);
  if (known) return known;
  const near = nearestName(String(id), envIds());
  throw new WorkbenchError('usage', `expected a known environment, got ${describeValue(id)}, at ${place}`, {
    hint: `${near === undefined ? '' : `Did you mean ${near}? `}Known are ${envIds().join(', ')}; others come with registerEnv or --plugin FILE, and programs may pass functions that make them.`,
  });
}

registerEnv(dialogueWalkId, (options: DialogueWalkOptions) => {
  const world = dialogueWalkWorld(options);
  return () => new DialogueWalkEnv(world);
});

registerEnv(relationWalkId, (options: RelationWalkOptions) => {
  const world = relationWalkWorld(options);
  return () => new RelationWalkEnv(world);
});

registerEnv(
  linkQueryId,
  (options: LinkQueryOptions) => {
    const world = linkQueryWorld(options);
    return () => new LinkQueryEnv(world);
  },
  (options, numEnvs, autoreset) => new LinkQueryBatch(linkQueryWorld(options), numEnvs, autoreset),
);

registerEnv(cartPoleId, (options: CartPoleOptions) => () => new CartPole(options));

registerEnv(gridId, (options: GridOptions) => () => new Grid(options));

registerEnv(maskedBanditId, (options: MaskedBanditOptions) => () => new MaskedBandit(options));
