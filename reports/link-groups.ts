/** Runs on link queries by data set, in groups that differ in the seed alone, with names that say what was trained how. */
import { algorithmOf } from './agent-names.js';
import { groupBy } from './question-labels.js';
import { differingKeys, groupRuns, settingText, type RunData, type RunGroup } from './run-data.js';
import { withoutSeed } from './run-names.js';

/** The runs on one data set: curves of two are never drawn into one chart. */
export interface LinkGroups {
  dataset: string;
  groups: RunGroup[];
}

/** Groups runs by data set, in the order given. */
export function groupLinkRuns(runs: readonly RunData[]): LinkGroups[] {
  return [...groupBy(runs, datasetOf)].map(([dataset, some]) => ({ dataset, groups: named(groupRuns(some)) }));
}

function datasetOf({ info: { config } }: RunData): string {
  return String(((config.data ?? {}) as { dataset?: unknown }).dataset ?? 'unnamed');
}

type Config = Record<string, unknown>;

/** Settings that have words of their own; an empty one is the plain case, which needs none. */
const words: Readonly<Record<string, (value: string, config: Config) => string>> = {
  'linkWalk.shaping': (value) => (value === 'none' ? '' : `${value} shaping`),
  'linkWalk.shapingScorer': (value, config) =>
    settingText(config, 'linkWalk.shaping') === 'none' ? '' : `by ${value}`,
  'ppo.actionDropout': (value) => (value === '0' ? '' : `dropout ${value}`),
  // The first word says it.
  'ppo.algorithm': () => '',
  name: () => '',
};

/** `PPO, terminal shaping, dropout 0.5`; a single group, and settings that were given names, keep theirs. */
function named(groups: readonly RunGroup[]): RunGroup[] {
  const configs = groups.map(({ runs }) => withoutSeed(runs[0]!.info.config));
  const isNamed = new Set(configs.map(({ name }) => name)).size === configs.length;
  if (groups.length < 2 || isNamed) return [...groups];
  const keys = differingKeys(configs);
  const methods = configs.map(algorithmOf);
  // What differs as the algorithm does, such as the baseline, belongs to it.
  const follows = (key: string) =>
    configs.every((config, i) =>
      configs.every(
        (other, j) => (methods[i] === methods[j]) === (settingText(config, key) === settingText(other, key)),
      ),
    );
  const told = keys.filter((key) => key in words || !follows(key));
  const labels = configs.map((config, i) => {
    const said = told.map((key) => {
      const value = settingText(config, key);
      return words[key]?.(value, config) ?? `${key.slice(key.lastIndexOf('.') + 1)}=${value}`;
    });
    return [methods[i]!, ...said.filter((word) => word !== '')].join(', ');
  });
  const isTold = new Set(labels).size === labels.length;
  return isTold ? groups.map((group, i) => ({ ...group, label: labels[i]! })) : [...groups];
}
