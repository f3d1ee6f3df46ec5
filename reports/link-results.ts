/** Evaluations on link queries as comparable rows: one an agent, averaged over seeds, apart for each data set and split. */
import { linkDirections, type LinkDirection, type LinkEvaluationRecord } from '../src/run/link-records.js';
import { differingKeys, groupBy, groupRuns, settingText, type RunData, type RunGroup } from './run-data.js';
import { average, type Figure, type Figures } from './series.js';
import { algorithmOf, baselineName, labelOf, methodOf, plainName, withoutSeed } from './words.js';

/** One agent's figures on one split. */
export interface LinkRow {
  label: string;
  note?: string;
  /** Whether a run trained it to walk. */
  own: boolean;
  /** Index of the group of runs that trained it; absent for what no run of the report did. */
  group?: number;
  /** What an entity is worth that several walks reach, as the settings of its runs say; scorers know none. */
  pooling: 'max' | 'sum';
  /** How many evaluations were averaged. */
  seeds: number;
  directions: Partial<Record<LinkDirection, Figures>>;
  /** One of the averaged records: chains, examples, cost. */
  record: LinkEvaluationRecord;
}

/** All that was measured on the same triples. */
export interface LinkSet {
  dataset: string;
  split: string;
  limit?: number;
  /** Triples that were asked. */
  n: number;
  /** The direction that orders rows and makes the summary: tail, as the field counts walkers, where it was asked. */
  main: LinkDirection;
  /** Best MRR first. */
  rows: LinkRow[];
}

interface Measured {
  record: LinkEvaluationRecord;
  label: string;
  own: boolean;
  group?: number;
  pooling?: unknown;
}

/**
 * Collects the evaluations. Sets with trained walkers come first; of these `valid`, by which they were chosen, comes last.
 * @param groups on one data set
 * @param others evaluations of what no run of the report trained
 */
export function collectLinks(groups: readonly RunGroup[], others: readonly LinkEvaluationRecord[] = []): LinkSet[] {
  const measured = [
    ...groups.flatMap((group, g) =>
      group.runs.flatMap(({ linked }) => linked.map((record) => measuredOf(record, group, g, groups.length > 1))),
    ),
    ...others.map((record): Measured => ({ record, ...namedAlone(record) })),
  ];
  const keyOf = ({ record: { dataset, split, limit, n, seed, hashes } }: Measured) =>
    JSON.stringify([dataset, hashes.dataset, split, n, limit, ...(limit === undefined ? [] : [seed])]);
  const rank = ({ rows, split }: LinkSet) => (rows.some(({ own }) => own) ? 0 : 2) + (split.includes('valid') ? 1 : 0);
  return [...groupBy(measured, keyOf).values()]
    .map(setOf)
    .sort((a, b) => rank(a) - rank(b) || b.rows.length - a.rows.length);
}

/** The same of several data sets: what no run trained stands beside the runs on its data. */
export function collectLinkSets(trained: readonly LinkGroups[], others: readonly LinkEvaluationRecord[]): LinkSet[] {
  const alone = [...new Set(others.map(({ dataset }) => dataset))].filter(
    (dataset) => !trained.some((one) => one.dataset === dataset),
  );
  return [...trained, ...alone.map((dataset) => ({ dataset, groups: [] }))].flatMap(({ dataset, groups }) =>
    collectLinks(
      groups,
      others.filter((one) => one.dataset === dataset),
    ),
  );
}

/** The row that a report is about: the `best` checkpoint of a run where there is one. */
export function mainLinkRow({ rows }: LinkSet): LinkRow | undefined {
  const own = rows.filter((row) => row.own);
  return own.find(({ record }) => record.checkpoint === 'best') ?? own[0] ?? rows[0];
}

/** A figure by the pooling of the row. */
export function figureOf({ directions, pooling }: LinkRow, direction: LinkDirection, key: string): Figure | undefined {
  return directions[direction]?.[pooling === 'sum' ? `sum-${key}` : key];
}

/** `umls, test`, with the number of triples where only some were asked. */
export function titleOfLinks({ dataset, split, limit, n }: LinkSet): string {
  return `${dataset}, ${split}${limit === undefined ? '' : `, ${n} triples drawn by seed`}`;
}

function measuredOf(record: LinkEvaluationRecord, group: RunGroup, g: number, several: boolean): Measured {
  if (record.checkpoint === undefined) return { record, label: baselineName(record.agent), own: false };
  const method = methodOf(group.runs[0]!.info.config, record.checkpoint) ?? record.agent;
  // The names of several groups begin with the method.
  const label = labelOf(several ? group.label : method, [record.checkpoint]);
  const { pooling } = (group.runs[0]!.info.config.evaluation ?? {}) as { pooling?: unknown };
  return { record, label, own: true, group: g, pooling };
}

function namedAlone({ agent, run, checkpoint }: LinkEvaluationRecord): { label: string; own: boolean } {
  if (run === undefined || checkpoint === undefined) return { label: baselineName(agent), own: false };
  return { label: labelOf(plainName(run), [checkpoint]), own: true };
}

function setOf(members: readonly Measured[]): LinkSet {
  const { dataset, split, limit, n } = members[0]!.record;
  const main = linkDirections.find((one) => members.every(({ record }) => record.directions[one])) ?? 'both';
  // A walker asked with another beam or horizon is another row, though its settings are the same.
  const keyOf = ({ label, own, record: { note, beamWidth, horizon } }: Measured) =>
    JSON.stringify([label, own, note, beamWidth, horizon]);
  const rows = [...groupBy(members, keyOf).values()].map(rowOf);
  const alike = groupBy(rows, ({ label }) => label);
  const told = rows.map((row) => (alike.get(row.label)!.length > 1 ? { ...row, label: withBeam(row) } : row));
  const value = (row: LinkRow) => figureOf(row, main, 'mrr')?.value ?? -1;
  return {
    ...{ dataset, split, n, main, rows: told.sort((a, b) => value(b) - value(a)) },
    ...(limit !== undefined && { limit }),
  };
}

function withBeam({ label, record: { beamWidth, horizon } }: LinkRow): string {
  const details = [
    ...(beamWidth === undefined ? [] : [`beam ${beamWidth}`]),
    ...(horizon === undefined ? [] : [`${horizon} steps`]),
  ];
  return [label, ...details].join(', ');
}

function rowOf(same: readonly Measured[]): LinkRow {
  const { label, own, group, pooling } = same[0]!;
  // What knows no seed says the same whenever it is asked: that is one measurement, not several.
  const distinct = [...groupBy(same, ({ record }) => JSON.stringify(record.directions)).values()].map(
    ([first]) => first!.record,
  );
  const records = own ? same.map(({ record }) => record) : distinct;
  const { note } = records[0]!;
  return {
    label,
    ...(note !== undefined && { note }),
    own,
    ...(group !== undefined && { group }),
    pooling: pooling === 'sum' ? 'sum' : 'max',
    seeds: records.length,
    directions: Object.fromEntries(
      linkDirections
        .filter((one) => records.every(({ directions }) => directions[one]))
        .map((one) => [one, average(records.map(({ directions }) => directions[one]!))]),
    ),
    record: records.find(({ chains }) => chains?.length) ?? records[0]!,
  };
}

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
