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

/** Settings that have words of their own, in the order in which they are said; an empty one is the plain case, which needs none. */
const words: Readonly<Record<string, (value: string, config: Config) => string>> = {
  'ppo.algorithm': (_, config) => algorithmOf(config),
  'clone.enabled': (value) => (value === 'true' ? 'cloned first' : ''),
  'linkWalk.shaping': (value) => (value === 'none' ? '' : `${value} shaping`),
  'linkWalk.shapingScorer': (value, config) =>
    settingText(config, 'linkWalk.shaping') === 'none' ? '' : `by ${value}`,
  'ppo.actionDropout': (value) => (value === '0' ? '' : `dropout ${value}`),
};

/**
 * `PPO, terminal shaping, dropout 0.5`: the words of what differs, and as many other settings as tell the groups apart. A
 * single group, and settings that were given names, keep theirs.
 */
function named(groups: readonly RunGroup[]): RunGroup[] {
  const configs = groups.map(({ runs }) => withoutSeed(runs[0]!.info.config));
  const isNamed = new Set(configs.map(({ name }) => name)).size === configs.length;
  if (groups.length < 2 || isNamed) return [...groups];
  const differing = differingKeys(configs);
  const said = Object.keys(words).filter((key) => key === 'ppo.algorithm' || differing.includes(key));
  const others = differing.filter((key) => !(key in words) && key !== 'name');
  let labels = labelsBy(configs, said);
  for (const key of others) {
    const count = new Set(labels).size;
    if (count === labels.length) break;
    const longer = labelsBy(configs, [...said, key]);
    // What parts no groups that were not apart yet goes with what is said already, as a baseline with its algorithm.
    if (new Set(longer).size === count) continue;
    said.push(key);
    labels = longer;
  }
  return groups.map((group, i) => ({ ...group, label: labels[i]! }));
}

function labelsBy(configs: readonly Config[], keys: readonly string[]): string[] {
  return configs.map((config) =>
    keys
      .map((key) => {
        const value = settingText(config, key);
        return words[key]?.(value, config) ?? `${key.slice(key.lastIndexOf('.') + 1)}=${value}`;
      })
      .filter((word) => word !== '')
      .join(', '),
  );
}
