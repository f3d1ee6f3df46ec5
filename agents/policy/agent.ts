/** Trained policies, out of their runs. */
import { readRunCheckpoint } from '../../checkpoints/chain.js';
import { checkFits, type CheckpointHashes } from '../../checkpoints/checkpoint.js';
import { type ExecutorName, type NetworkSize, openExecutor } from '../../src/nn/open-executor.js';
import { openRun } from '../../src/run/run-folder.js';
import type { RunCheckpoint } from '../method.js';
import { settingsOfRun, type TrainSettings } from '../train-settings.js';
import { type Chooser, meanChooser, policyChooser, type PolicyMember } from './play.js';
import { type MakePolicy, restoredPolicy } from './policy.js';
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
  return { choose: runs.length > 1 ? meanChooser(members) : policyChooser(actor, { normalizer }), close };
}

/** Section of the settings; all defaults where it is absent. */
export const policyOf = ({ policy }: Pick<TrainSettings, 'policy'>): PolicySettings =>
  policy ?? policySettings.parse({});

/** Below the size where `auto` takes a GPU: each step of the environments would wait for it. */
export function policySize({ hidden, minibatchSize }: PolicySettings): NetworkSize {
  const [inputs = 1, units = 1] = [...hidden].sort((a, b) => b - a);
  return { rows: Math.min(minibatchSize, Math.floor(9e7 / (inputs * units))), inputs, units };
}
