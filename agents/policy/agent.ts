/** Trained policies, out of their runs. */
import { z } from 'zod';
import { readRunCheckpoint } from '../../checkpoints/chain.js';
import { checkFits, type CheckpointHashes, type ReadCheckpoint } from '../../checkpoints/checkpoint.js';
import { type ExecutorName, type NetworkSize, openExecutor } from '../../src/nn/open-executor.js';
import { WorkbenchError } from '../../src/run/errors.js';
import { anyFunction, checkGiven } from '../../src/run/read-json.js';
import { openRun } from '../../src/run/run-folder.js';
import type { RunCheckpoint } from '../method.js';
import { settingsOfRun, type TrainSettings } from '../train-settings.js';
import { type ActOptions, actorOf, type GivenObservation } from './act.js';
import { type Chooser, meanChooser, policyChooser, type PolicyMember } from './play.js';
import { type MakePolicy, type PolicyNetworks, restoredPolicy } from './policy.js';
import { registeredSource, shapeOf, sourceHash } from './source.js';
import { type PolicySettings, policySettings, type PolicyShape } from './spaces.js';

/** Options of trained policies. */
export interface PolicyOptions {
  shape: PolicyShape;
  /** Identity of the environment, which weights belong to. */
  hashes: CheckpointHashes;
  /** Custom networks. */
  make?: MakePolicy | undefined;
  /** Default the run's own. */
  backend?: ExecutorName | 'auto' | undefined;
}

/** A trained policy, ready to act; close it after use. */
export interface LoadedPolicy {
  /** Numbers of its actions: `first` to `first + n - 1`. */
  readonly actions: { n: number; first: number };
  readonly shape: PolicyShape;
  /** The action for an observation, as the environment numbers it. @throws WorkbenchError `data` for an observation that does not fit */
  act(observation: GivenObservation, options?: ActOptions): Promise<number>;
  /** Actions for several observations, counted from 0. */
  choose: Chooser;
  close(): void;
}

/** One run, or several as one policy: the mean of their probabilities. @throws WorkbenchError `data` for other weights or another environment */
export async function loadPolicies(
  runs: readonly RunCheckpoint[],
  { shape, hashes, make, backend }: PolicyOptions,
): Promise<LoadedPolicy> {
  const members: PolicyMember[] = [];
  const close = () => members.splice(0).forEach(({ actor }) => actor.dispose());
  try {
    for (const { folder, checkpoint } of runs) {
      const weights = readRunCheckpoint(folder, checkpoint, { finite: true });
      checkFits(weights.header, hashes, weights.entry.file);
      const settings = settingsOfRun(openRun(folder));
      const policy = policyOf(settings);
      const { executor } = await openExecutor(backend ?? settings.backend, policySize(policy));
      members.push(restoredPolicy(shape, policy, weights, { make, executor }));
    }
  } catch (error) {
    close();
    throw error;
  }
  const [{ actor, normalizer }] = members as [PolicyMember];
  return loadedPolicy(shape, runs.length > 1 ? meanChooser(members) : policyChooser(actor, normalizer), close);
}

/** A policy from its choices. */
export function loadedPolicy(shape: PolicyShape, choose: Chooser, close: () => void): LoadedPolicy {
  const actions = { n: shape.numActions, first: shape.firstAction };
  return { actions, shape, act: actorOf(shape, choose), choose, close };
}

/** Which weights are loaded, and on what. */
export interface LoadPolicyOptions {
  /** `best` (default), `last`, a name or a step. */
  checkpoint?: string | undefined;
  /** For a run with custom networks: these. */
  policy?: MakePolicy | PolicyNetworks | undefined;
  /** Backend; default the run's own. */
  backend?: ExecutorName | 'auto' | undefined;
}

/** Custom networks, as programs give them. */
export const policyGiven = z
  .custom((value) => typeof value === 'function' || (typeof value === 'object' && value !== null), 'expected networks')
  .optional();

const loadOptions = z.strictObject({
  checkpoint: z.string().optional(),
  policy: policyGiven,
  backend: z.string().optional(),
});

/**
 * Loads a policy that `trainPolicy` or `kgwalk train policy` trained; its environment need not be there.
 * @param run its folder or name
 * @throws WorkbenchError `usage` for a run of another kind, `data` for weights of other networks
 */
export async function loadPolicy(run: string, options: LoadPolicyOptions = {}): Promise<LoadedPolicy> {
  checkGiven(options, loadOptions, 'options of loadPolicy', 'loadPolicy');
  const { checkpoint = 'best', policy, backend } = options;
  const opened = openRun(run);
  const { folder } = opened;
  const { env, policy: networks } = settingsOfRun(opened);
  if (networks === undefined) {
    throw new WorkbenchError('usage', `expected a policy over vectors, got a run of ${env.id}, at ${folder}`, {
      hint: 'Walkers of graphs are asked by `kgwalk ask`, or by openAgent of kgwalk/tasks.',
    });
  }
  const weights = readRunCheckpoint(folder, checkpoint);
  const shape = shapeOfWeights(weights, env) ?? shapeOf(registeredSource(env));
  const hashes = { dataset: sourceHash(env, shape) };
  return loadPolicies([{ folder, checkpoint }], { shape, hashes, make: madeBy(policy), backend });
}

/** A maker of networks that may be given as they are. */
export const madeBy = (policy: MakePolicy | PolicyNetworks | undefined): MakePolicy | undefined =>
  typeof policy === 'object' ? () => policy : policy;

/** Shape of an environment that is not there: sizes from the weights of dense layers, the rest by the hash that it is part of. */
function shapeOfWeights({ tensors, header }: ReadCheckpoint, env: TrainSettings['env']): PolicyShape | undefined {
  const [last, first = last] = [tensors['actor.out']?.shape, tensors['actor.1']?.shape];
  if (!first || !last) return undefined;
  const sizes = { inputs: first[0]!, numActions: last[1]! };
  return [false, true]
    .flatMap((masked) => [0, 1, -1].map((firstAction) => ({ ...sizes, firstAction, masked })))
    .find((shape) => sourceHash(env, shape) === header.hashes.dataset);
}

/** A policy with its actor alone. */
export const policyMembers = z.object({
  actor: z.object({ requestOf: anyFunction, numScores: anyFunction, score: anyFunction }),
});

/** Section of the settings; all defaults where it is absent. */
export const policyOf = ({ policy }: Pick<TrainSettings, 'policy'>): PolicySettings =>
  policy ?? policySettings.parse({});

/** Below the size where `auto` takes a GPU: each step of the environments would wait for it. */
export function policySize({ hidden, minibatchSize }: PolicySettings): NetworkSize {
  const [inputs = 1, units = 1] = [...hidden].sort((a, b) => b - a);
  return { rows: Math.min(minibatchSize, Math.floor(9e7 / (inputs * units))), inputs, units };
}
