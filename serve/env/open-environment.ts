/** Opens the environment for a client: on a data set through its task, or a standalone one. */
import { datasetKind } from '../../datasets/imported-dataset.js';
import { parseDatasetName } from '../../datasets/questions/question-dataset.js';
import { registeredEnv, makeVectorEnv } from '../../envs/registry.js';
import type { Autoreset } from '../../envs/vector-env.js';
import { applyOverrides, loadConfig } from '../../src/run/config.js';
import { type Override, parseOverride } from '../../src/run/config-source.js';
import { WorkbenchError } from '../../src/run/errors.js';
import { loadPreset } from '../../presets/index.js';
import { loadTask, noDataset, ownerOf } from '../../tasks/index.js';
import type { EnvironmentFlags, TaskEnvironment, Work } from '../../tasks/task.js';
import { settingsSchema } from '../../agents/train-settings.js';
import type { RowWriter } from './columns.js';
import type { ServedEnv } from './session.js';

export interface AskedEnv extends EnvironmentFlags {
  id: string;
  dataset?: string | undefined;
  /** Settings of the environment: a preset or a file; default: the defaults. */
  config?: string | undefined;
  /** Such as `linkWalk.horizon=2`. */
  set: readonly string[];
  /** Options of the environment itself, such as `size=7`; they override those of the data set. */
  option: readonly string[];
  numEnvs: number;
  autoreset: Autoreset;
}

/**
 * Reads the data once; every call of the result creates separate copies.
 * @throws WorkbenchError `usage` for an unregistered id or a data set that does not fit it; as the task for its data
 */
export async function openEnvironment(asked: AskedEnv, work: Work): Promise<() => ServedEnv> {
  const { id, dataset, numEnvs, autoreset } = asked;
  registeredEnv(id, 'serve env');
  const { options, vectors }: TaskEnvironment = await overData(asked, work);
  const own = optionsOf(asked.option);
  const make = () => {
    try {
      return makeVectorEnv(id as 'kgwalk/Grid-v1', { ...options, ...own } as never, numEnvs, autoreset);
    } catch (cause) {
      if (cause instanceof WorkbenchError) throw cause;
      throw new WorkbenchError('failure', `the environment failed: ${(cause as Error).message}, at ${id}`, { cause });
    }
  };
  // Fails early: created once before any client connects.
  make().close();
  const about = dataset === undefined ? {} : { dataset, split: asked.split };
  return () => ({
    ...{ envs: make(), autoreset, about },
    vectors: vectors && { length: vectors.length, write: vectors.write as RowWriter },
  });
}

async function overData({ id, dataset, config, set, ...flags }: AskedEnv, work: Work): Promise<TaskEnvironment> {
  const owner = ownerOf(id);
  if (dataset === undefined) {
    if (!owner) return { options: {} };
    throw noDataset(owner);
  }
  const { name, subsets } = parseDatasetName(dataset);
  const task = await loadTask(datasetKind(name));
  if (owner && owner !== task.name) {
    throw new WorkbenchError('usage', `expected a data set of ${owner}, got ${dataset} of ${task.name}, at ${id}`);
  }
  const overrides = [
    ...[`env.id=${id}`, `data.dataset=${name}`],
    ...(subsets ? [`data.subsets=${JSON.stringify(subsets)}`] : []),
    ...set,
  ];
  const settings =
    config === undefined
      ? loadConfig(settingsSchema(), { text: '{}', overrides, source: 'the defaults' })
      : loadPreset(config, overrides);
  return task.environment(settings, flags, work);
}

/** Parses environment options such as `size=7`. @throws WorkbenchError `usage` for another form */
export const optionsOf = (texts: readonly string[]): Record<string, unknown> =>
  applyOverrides({}, texts.map(overrideOf));

function overrideOf(text: string): Override {
  const override = parseOverride(text);
  if ('path' in override) return override;
  throw new WorkbenchError('usage', override.problem.replace('--set', '--option'));
}
