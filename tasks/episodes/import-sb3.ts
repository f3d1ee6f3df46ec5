/** Imports a Stable-Baselines3 policy as a run, so that its return is evaluated like any other's. */
import { playEpisodes, policyChooser } from '../../agents/policy/play.js';
import { restoredPolicy } from '../../agents/policy/policy.js';
import { type Checkpoint, type JsonObject, schemaVersion } from '../../checkpoints/checkpoint.js';
import { readSafetensors, type Tensor } from '../../checkpoints/safetensors.js';
import { saveCheckpoint } from '../../checkpoints/store.js';
import { configHash } from '../../src/run/config-values.js';
import { loadConfig } from '../../src/run/config.js';
import { collectEnvironment } from '../../src/run/environment.js';
import { WorkbenchError } from '../../src/run/errors.js';
import { sha256File } from '../../src/run/files.js';
import { resolvePreset } from '../../src/run/locations.js';
import { createRun } from '../../src/run/run-folder.js';
import { checkpointConfig } from '../../trainers/session.js';
import { trainSettings } from '../../agents/train-settings.js';
import { plainSettings } from '../../trainers/run-settings.js';
import { episodeSeeds } from '../../agents/policy/play.js';
import { policyOf } from '../../agents/policy/agent.js';
import { registeredSource, shapeOf, sourceHash } from '../../agents/policy/source.js';

/** Files and environment of an import. */
interface ImportSb3Options {
  /** Safetensors, as `export_sb3` of clients/python writes it. */
  file: string;
  env: { id: string; options?: Record<string, unknown> };
  folder: string;
  signal?: AbortSignal | undefined;
}

const hint = 'Write it by kgwalk_gym.export_sb3(model, file), which says what it can take.';

/**
 * Makes a finished run of it, its best checkpoint chosen by nothing and scored on the usual episodes of valid.
 * @returns mean return of these episodes
 * @throws WorkbenchError `data` for a file of another kind, or of networks that the environment does not fit, before anything is written
 */
export async function importSb3({ file, env, folder, signal }: ImportSb3Options): Promise<number> {
  const { hidden, inputs, numActions, tensors } = readPolicy(file);
  const source = registeredSource(env);
  const shape = shapeOf(source);
  if (shape.inputs !== inputs || shape.numActions !== numActions) {
    throw new WorkbenchError(
      'data',
      `expected a policy of ${shape.inputs} numbers and ${shape.numActions} actions for ${env.id}, got one of ${inputs} and ${numActions}, at ${file}`,
    );
  }
  const overrides = [
    ...['name=sb3', `env.id=${env.id}`, `policy.hidden=${JSON.stringify(hidden)}`],
    ...(env.options ? [`env.options=${JSON.stringify(env.options)}`] : []),
  ];
  const settings = loadConfig(trainSettings, { file: resolvePreset('policy'), overrides });
  const { actor } = restoredPolicy(shape, policyOf(settings), { tensors });
  const seeds = episodeSeeds('valid', policyOf(settings).evalEpisodes);
  const played = await playEpisodes(() => source.make(), policyChooser<unknown>(actor), { seeds, signal });
  actor.dispose();
  const mean = (of: 'return' | 'length') => played.reduce((sum, one) => sum + one[of] / played.length, 0);
  const hashes = { dataset: sourceHash(env, shape) };
  const config = checkpointConfig(settings);
  const checkpoint: Checkpoint = {
    header: {
      ...{ schemaVersion, kind: 'walker', config, configHash: configHash(config), hashes },
      ...{ phase: 'ppo', step: 0, epoch: 0 },
      trainer: { importedFrom: 'stable-baselines3', sha256: await sha256File(file) } satisfies JsonObject,
      metrics: { 'eval/return': mean('return'), 'eval/length': mean('length') },
    },
    tensors,
  };
  const plain = plainSettings(settings);
  const environment = collectEnvironment({ configHash: configHash(plain), backend: 'host', hashes });
  const run = createRun({ folder, config: plain, environment });
  try {
    saveCheckpoint(run.folder, checkpoint, settings.checkpoint);
    run.update({ status: 'finished', phase: 'ppo', done: { ppo: true } });
  } finally {
    run.close();
  }
  return mean('return');
}

/** Dense tanh layers under the names that they have here. */
function readPolicy(file: string) {
  const { tensors: read, metadata } = readSafetensors(file, { finite: true });
  const wrong = (expected: string, got: string) =>
    new WorkbenchError('data', `expected ${expected}, got ${got}, at ${file}`, { hint });
  if (metadata.get('activation') !== 'tanh') {
    throw wrong('a policy with tanh layers', metadata.get('activation') ?? 'a file that does not say');
  }
  const tensors: Record<string, Tensor> = {};
  const left = new Set(read.keys());
  const hidden: number[] = [];
  let [inputs, width] = [0, 0];
  const take = (from: string, to: string) => {
    const [weights, bias] = [read.get(`${from}.weight`), read.get(`${from}.bias`)];
    const [rows = 0, columns = 0] = weights?.shape ?? [];
    const fits = weights?.shape.length === 2 && bias?.shape.join() === String(rows) && rows > 0 && columns > 0;
    if (!(fits && weights.data instanceof Float32Array && bias.data instanceof Float32Array)) {
      throw wrong(`float32 weights and biases ${from}`, 'others or none');
    }
    if (width === 0) inputs = columns;
    else if (width !== columns)
      throw wrong(`layers that follow each other`, `${columns} inputs of ${from} after ${width}`);
    width = rows;
    // Theirs lie by output, ours by input.
    const { data } = weights;
    const turned = Float32Array.from(data, (_, i) => data[(i % rows) * columns + Math.floor(i / rows)]!);
    tensors[to] = { shape: [columns, rows], data: turned };
    tensors[`${to}.bias`] = { shape: [rows], data: bias.data };
    left.delete(`${from}.weight`);
    left.delete(`${from}.bias`);
  };
  for (let i = 0; read.has(`mlp_extractor.policy_net.${2 * i}.weight`); i++) {
    take(`mlp_extractor.policy_net.${2 * i}`, `actor.${i + 1}`);
    hidden.push(width);
  }
  take('action_net', 'actor.out');
  // Values are not asked for where nothing is learned.
  const unknown = [...left].find((name) => !/^(mlp_extractor\.value_net\.\d+|value_net)\.(weight|bias)$/.test(name));
  if (unknown !== undefined) throw wrong('layers of a policy and of values', unknown);
  return { hidden, inputs, numActions: width, tensors };
}
