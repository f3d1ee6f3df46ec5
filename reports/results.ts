/** Evaluations as comparable rows for any task: one row per agent, averaged over seeds. */
import { canonicalJson, isPlain } from '../src/run/config-values.js';
import { agentTitle, type EvaluationRecord } from '../src/run/evaluation.js';
import { numberText, type Figure, type TestedDifference } from '../src/run/figures.js';
import { average, averageSlices, namedBy } from './run-data.js';
import type { EvaluationData, Figures, Speed, Subject } from './run-data.js';
import { meanOf } from './plots/series.js';
import { agentColors, palette } from './plots/colors.js';
import type { PlotEstimate } from './plots/plot.js';
import { labelOf, plain, wordsOf } from './format.js';

/** Mean, median, 95th percentile, maximum and total over samples. */
export type Cost = EvaluationRecord['cost'][string];

/** Evaluations of one agent on the same samples, averaged over seeds. */
export interface ResultRow {
  label: string;
  /** Lines shown with its name: model, settings, notes, seeds. */
  aside: readonly string[];
  note?: string | undefined;
  /** Language model; absent for agents that use none. */
  model?: string | undefined;
  simulated: boolean;
  /** True if a run trained it. */
  own: boolean;
  /** See `kindOf`. */
  kind?: string | undefined;
  /** Settings of its run; of several seeds those of the first. */
  config?: Readonly<Record<string, unknown>> | undefined;
  /** `best`, `last`, `clone` or a step. */
  checkpoint?: string | undefined;
  /** Training method, such as `PPO`; over several seeds, all of them. */
  method?: string | undefined;
  /** Index among the groups of runs on its data; absent for agents not trained by a run of the report. */
  group?: number;
  /** Palette colour in every chart: that of its group's curves, paler for all but its best checkpoint. */
  color: string;
  /** Number of evaluations averaged. */
  seeds: number;
  /** True if intervals are over seeds and samples; else those of several seeds are of these runs alone. */
  overSeeds?: boolean;
  /** Samples evaluated, all seeds together. */
  asked: number;
  metrics: Figures;
  slices: Readonly<Record<string, Figures>>;
  cost: Readonly<Record<string, Cost>>;
  /** Its switches: all of them; in records of earlier versions those that differ from their defaults. */
  settings: Readonly<Record<string, unknown>>;
  /** Missed samples by reason, summed over seeds. */
  misses: Readonly<Record<string, number>>;
  /** Absent for simulated models, whose time is meaningless. */
  speed?: Speed | undefined;
  records: readonly EvaluationRecord[];
  /** Hashes of the evaluations, one per seed. */
  folders: readonly string[];
  /** This agent's main figure minus the subject's; absent for the subject itself, and without a comparison. */
  difference?: TestedDifference | undefined;
  /** Processor seconds of training, mean over seeds; absent where they are not known, and for agents that were not trained. */
  trainingSeconds?: number | undefined;
}

/** All agents on the same samples; simulations share one error rate. */
export interface ResultSet {
  /** `umls, test`: as many words as distinguish it from the other sets of the report. */
  title: string;
  /** Shared properties, from one of the records. */
  about: EvaluationRecord;
  labels: readonly string[];
  /** Equal for sets of the same samples. */
  samples: string;
  /** Name of a simulated model, such as `oracle:0.1`, which uses the gold answers. */
  simulated?: string | undefined;
  /** Figures declared by any of them, in table order. */
  figures: readonly Figure[];
  /** Figure that orders the rows and makes the summary. */
  main: Figure;
  /** Best first; ties go to fewer calls. */
  rows: ResultRow[];
}

/**
 * Collects evaluations into sets: those with trained agents (`valid` last), real models, agents alone, simulated models.
 * Agents without a model are shown with real and with simulated models, which are never mixed.
 */
export function collectResults(evaluations: readonly EvaluationData[], subjects: readonly Subject[]): ResultSet[] {
  const members = [...Map.groupBy(evaluations, ({ samples }) => samples).values()].flatMap((same) => {
    const free = same.filter(({ record }) => record.model === undefined);
    const asked = same.filter(({ record }) => record.model !== undefined);
    const kinds = Map.groupBy(asked, ({ record }) => (record.simulated ? record.model! : ''));
    return kinds.size === 0 ? [free] : [...kinds.values()].map((some) => [...some, ...free]);
  });
  const labelled = members.map((some) => ({ some, rows: rowsOf(some) }));
  const all = labelled.flatMap(({ rows }) => rows);
  const colorOf = colorBook(subjects, all);
  const sets = labelled.map(({ some, rows }) => setOf(some, rows, colorOf));
  const rank = ({ simulated, rows, about }: ResultSet) => {
    if (simulated !== undefined) return 5 + (oracleRates(simulated)?.error ?? 0);
    const best = rows.some(({ checkpoint }) => checkpoint === 'best');
    const trained = rows.some(({ own }) => own);
    return (rows.length === 1 && !trained ? 4 : best ? 0 : trained ? 2 : 3) + (about.split.includes('valid') ? 0.5 : 0);
  };
  // Among equal ranks the data of the first run comes first; of one data set the largest set represents the group.
  const place = ({ about }: ResultSet) => subjects.findIndex(({ dataset }) => dataset === about.dataset);
  sets.sort(
    (a, b) => rank(a) - rank(b) || place(a) - place(b) || b.about.n - a.about.n || b.rows.length - a.rows.length,
  );
  return apart(sets, 'title', ({ about: { graph }, rows }) => {
    const [first, ...others] = rows.map(({ records }) => facetsOf(records[0]!));
    const shared = first!.filter((word) => others.every((words) => words.includes(word)));
    return [...(graph === undefined ? [] : [`graph ${graph}`]), ...shared];
  });
}

/** Rates of a simulated model from its name, `oracle:E` or `oracle:E,confuse=K`; undefined for other names. */
export function oracleRates(model: string | undefined): { error: number; confuse: number } | undefined {
  const [, error, confuse = '0'] = /^oracle:([\d.e-]+)(?:,confuse=([\d.e-]+))?$/.exec(model ?? '') ?? [];
  return error === undefined ? undefined : { error: Number(error), confuse: Number(confuse) };
}

/** Words required in the title of every chart of a set. */
export function markOf({ simulated, labels }: Pick<ResultSet, 'simulated' | 'labels'>): string {
  const marks = [...labels, ...(simulated === undefined ? [] : [`simulated, ${simulated}`])];
  return marks.length > 0 ? ` (${marks.join('; ')})` : '';
}

/** The subject of a set: a run's `best` checkpoint if there is one, otherwise the best of all. */
export function mainRow({ rows }: Pick<ResultSet, 'rows'>): ResultRow {
  const own = rows.filter((row) => row.own);
  return own.find(({ checkpoint }) => checkpoint === 'best') ?? own[0] ?? rows[0]!;
}

/** Main-table figures that at least one row has; `main` before others. */
export function mainFigures({ figures }: Pick<ResultSet, 'figures'>): Figure[] {
  return figures.filter(({ place }) => place === 'main');
}

/** Upper bound that no agent can exceed, from the first row that has it. */
export function boundOf({ rows }: Pick<ResultSet, 'rows'>, key: string): number | undefined {
  const bounds = rows.flatMap(({ records }) => namedBy(Object.entries(records[0]!.bounds ?? {}))[key] ?? []);
  return bounds.length > 0 && bounds[0]! < 0.9995 ? bounds[0] : undefined;
}

/** `Hits@10, %`. */
export const headOf = ({ title, unit }: Figure): string => `${title}${unit === '%' ? ', %' : ''}`;

/** `29.1 (27.2–31.0)`, in the figure's unit. */
export function saidOf({ value, low, high }: PlotEstimate, { unit }: Pick<Figure, 'unit'>): string {
  return `${numberText(value, unit)} (${numberText(low, unit)}–${numberText(high, unit)})`;
}

function setOf(
  members: readonly EvaluationData[],
  labelled: readonly LabelledRow[],
  colorOf: (row: LabelledRow) => Colored,
): ResultSet {
  const [{ record: about, samples }] = members as [EvaluationData];
  const { subsets } = about as { subsets?: string[] };
  const simulated = members.find(({ record }) => record.simulated)?.record.model;
  const figures = [...new Map(members.flatMap(({ record }) => record.figures.map((one) => [one.key, one]))).values()];
  const main = figures.find(({ place }) => place === 'main') ?? figures[0]!;
  const labels = [...new Set(members.flatMap(({ record }) => record.labels ?? []))];
  const marks = labels.map((label) => ` [${label}]`).join('');
  const drawn = about.limit === undefined ? [] : [`${plain(about.n)} drawn by seed`];
  const simulation = simulated === undefined ? [] : [`simulated by ${simulated}`];
  const value = ({ metrics }: ResultRow) =>
    metrics[main.key] ? (main.better === 'low' ? -1 : 1) * metrics[main.key]!.value : -Infinity;
  const calls = ({ cost }: ResultRow) => cost.calls?.mean ?? 0;
  const rows = labelled.map((row) => rowOf(row.label, row.same, colorOf(row)));
  return {
    title: [
      `${about.dataset}${marks}`,
      ...(subsets ? [subsets.join(' + ')] : []),
      about.split,
      ...drawn,
      ...simulation,
    ].join(', '),
    ...{ about, labels, samples, figures, main, simulated },
    rows: rows
      .map((row) => ({ ...row, aside: asideOf(row, rows) }))
      .sort((a, b) => value(b) - value(a) || calls(a) - calls(b)),
  };
}

/** Evaluation settings of an agent that differ within its set and are not in its name. */
function asideOf({ label, model, simulated, note, seeds, records }: ResultRow, rows: readonly ResultRow[]): string[] {
  const models = new Set(rows.flatMap((row) => row.model ?? []));
  // With many agents on one model, only the caption names it.
  const isSaid = models.size === 1 && rows.length > palette.length;
  // Agents without a model have neither.
  const asked = rows.filter((row) => (row.model === undefined) === (model === undefined));
  const others = asked.map((row) => facetsOf(row.records[0]!));
  const own = facetsOf(records[0]!).filter(
    (word) => word !== model && !label.includes(word) && others.some((words) => !words.includes(word)),
  );
  const asks =
    model === undefined ? models.size > 0 && 'no language model' : !isSaid && modelName({ model, simulated });
  const lines = [asks, ...own, note, seeds > 1 && `mean of ${seeds} seeds`];
  return lines.flatMap((line) => line || []);
}

/** Language model of an agent; empty without one. */
export const modelName = ({ model = '', simulated }: Pick<ResultRow, 'model' | 'simulated'>): string =>
  simulated ? `${model}, simulated` : model;

interface LabelledRow {
  label: string;
  /** Evaluations that differ only in the seed. */
  same: EvaluationData[];
}

/** All that an evaluation was asked by but the seed and what follows from it: weights, tables, a run's name, the step of its best checkpoint. */
function askedButSeed({ record, trained }: EvaluationData): string {
  const { checkpoint: _checkpoint, table, model, ...others } = record.hashes;
  // That of a simulated model holds its seed.
  const hashes = record.simulated ? others : { ...others, model };
  const { seed: _seed, ...options } = record.options ?? {};
  const asked = Object.entries(record).filter(([key]) => !measured.has(key));
  return canonicalJson([Object.fromEntries(asked), hashes, record.options ? options : table, trained?.settings]);
}

/** Groups evaluations that differ only in the seed, and names rows by their differences. */
function rowsOf(members: readonly EvaluationData[]): LabelledRow[] {
  const averaged = [...Map.groupBy(members, askedButSeed).values()].flatMap((same) => {
    // The same seed twice: either the same measurement, or something else changed and they must not be averaged.
    const seedOf = ({ record: { run, hashes, seed, options }, trained, tag }: EvaluationData) =>
      canonicalJson(trained ? (trained.seed ?? hashes.checkpoint ?? run ?? tag) : (seed ?? options?.seed ?? null));
    // Without a seed every evaluation is the same measurement, not several.
    const figuresOf = (one: EvaluationData) =>
      (one.trained || one.record.model !== undefined ? seedOf(one) : '') + JSON.stringify(one.record.metrics);
    const distinct = [...Map.groupBy(same, figuresOf).values()].map(
      (twice) => twice.find(({ speed }) => speed) ?? twice[0]!,
    );
    const seeds = new Set(distinct.map(seedOf));
    return seeds.size === distinct.length ? [distinct] : distinct.map((one) => [one]);
  });
  const rows = averaged.filter(
    (row) => !averaged.some((other) => saysMore(other[0]!.record, row[0]!.record) || isBestOf(other, row)),
  );
  const trainings = new Set(rows.flatMap(([first]) => first!.trained?.settings ?? []));
  const plainRows = rows.map((same) => ({ label: nameOf(same, trainings.size > 1), same }));
  const named = apart(plainRows, 'label', ({ same: [one] }) => [...facetsOf(one!.record), ...optionsOf(one!.record)]);
  return apart(named, 'label', ({ same }) => [same[0]!.tag]);
}

/** True if a record is of the same agent with the same figures and more. */
function saysMore(more: EvaluationRecord, { agent, run, checkpoint, metrics }: EvaluationRecord): boolean {
  const keys = Object.keys(metrics);
  return (
    Object.keys(more.metrics).length > keys.length &&
    JSON.stringify([more.agent, more.run, more.checkpoint]) === JSON.stringify([agent, run, checkpoint]) &&
    keys.every((key) => more.metrics[key]?.value === metrics[key]!.value)
  );
}

/** True if `best` is the same checkpoint as another row of the same agent, such as the clone: one row suffices. */
function isBestOf(best: readonly EvaluationData[], row: readonly EvaluationData[]): boolean {
  const [first, other] = [best[0]!, row[0]!];
  if (first.trained?.checkpoint !== 'best' || !other.trained || other.trained.checkpoint === 'best') return false;
  const weights = (some: readonly EvaluationData[]) => {
    const each = some.map(({ record: { hashes, metrics, switches } }) => [hashes.checkpoint, metrics, switches]);
    return JSON.stringify(each.map((one) => JSON.stringify(one)).sort());
  };
  return first.record.hashes.checkpoint !== undefined && weights(best) === weights(row);
}

/** Adds the distinguishing words to duplicate names. */
function apart<T extends Record<Key, string>, Key extends string>(
  all: readonly T[],
  key: Key,
  facets: (one: T) => readonly string[],
): T[] {
  return all.map((one) => {
    const alike = all.filter((other) => other[key] === one[key]).map(facets);
    const words = facets(one).filter((word) => alike.some((other) => !other.includes(word)));
    return { ...one, [key]: [one[key], ...words].join(', ') };
  });
}

function nameOf(same: readonly EvaluationData[], several: boolean): string {
  const [{ record, trained }] = same as [EvaluationData];
  const { agent, switches = {} } = record;
  const switched = Object.entries(switches).map(([key, value]) => `${key}=${String(value)}`);
  if (!trained) return labelOf(agentTitle(agent), switched);
  const { label, checkpoint } = trained;
  // The best of one seed may be the clone, that of another a later checkpoint.
  const method = [...new Set(same.map((one) => one.trained?.method ?? agent))].sort().join(' or ');
  // Names of several settings begin with the method if it distinguishes them.
  if (several && label.startsWith(method)) return labelOf(label, [checkpoint, ...switched]);
  return labelOf(method, [checkpoint, ...(several ? [label] : []), ...switched]);
}

/** Record keys that are results, or follow from the seed. */
const measured = new Set(
  'options run phase step seed figures clusters n excluded metrics slices misses cost hashes details sections examples bounds'.split(
    ' ',
  ),
);
/** Record keys that are not evaluation settings or are shown separately. */
const shown = new Set([
  ...measured,
  ...'schemaVersion task agent note checkpoint dataset subsets labels graph split limit simulated switches'.split(' '),
]);

/** Evaluation settings of an agent by name, without those shown separately. */
export function toldApart(record: EvaluationRecord): [string, unknown][] {
  return Object.entries(record).filter(
    ([key, value]) => !shown.has(key) && value !== undefined && (typeof value !== 'object' || value === null),
  );
}

/** The way an agent chooses, in words; undefined if it uses no model. */
export function choicesOf({ model, ...record }: EvaluationRecord): string | undefined {
  const { choices = 'written' } = record as { choices?: unknown };
  return model === undefined ? undefined : choices === 'written' ? choices : `by ${String(choices)}`;
}

/** Evaluation settings in words: `budget 30`, `hops withheld`, `by likelihood`. */
export function facetsOf(record: EvaluationRecord): string[] {
  const asks = record.model !== undefined;
  const words = toldApart(record).flatMap(([key, value]) => {
    if (value === false || value === 0 || key === 'choices') return [];
    if (value === null) return key === 'budget' && asks ? ['budget none'] : [];
    if (key === 'model') return record.simulated ? [] : [String(value)];
    return [value === true ? wordsOf(key) : `${wordsOf(key)} ${String(value)}`];
  });
  return [...words, ...(asks ? [choicesOf(record)!] : [])];
}

/** Settings that an untrained agent was opened from besides its switches, in words: `epochs 20`. */
function optionsOf({ options: { switches: _, ...read } = {} }: EvaluationRecord): string[] {
  const settings = Object.entries(read).flatMap(([key, value]) =>
    isPlain(value) ? Object.entries(value) : [[key, value]],
  );
  return settings.map(([key, value]) => `${String(key)} ${String(value)}`);
}

type Colored = Pick<ResultRow, 'color' | 'group'>;

/** Colours of groups are those of their curves; other agents get unused ones. */
function colorBook(subjects: readonly Subject[], all: readonly LabelledRow[]): (row: LabelledRow) => Colored {
  const groups = new Map<string, Colored>();
  for (const { groups: some } of subjects) {
    some.forEach(({ runs, color }, group) => {
      for (const { evaluations } of runs)
        for (const { trained } of evaluations) if (trained) groups.set(trained.settings, { color, group });
    });
  }
  const others = all.filter(({ same: [one] }) => !one!.trained || !groups.has(one!.trained.settings));
  const taken = new Set([...groups.values()].map(({ color }) => color));
  // With many rows, all rows of one agent share its colour.
  const many = new Set(others.map(({ label }) => label)).size > palette.length;
  const nameOf = ({ label, same: [one] }: LabelledRow) => (many && !one!.trained ? one!.record.agent : label);
  const colors = agentColors(
    others.map((row) => {
      const { trained, record } = row.same[0]!;
      return { name: nameOf(row), vivid: trained !== undefined || record.model !== undefined };
    }),
    taken,
  );
  return (row) => {
    const { trained } = row.same[0]!;
    const own = trained && groups.get(trained.settings);
    if (own) return trained.checkpoint === 'best' ? own : { ...own, color: `${own.color}99` };
    return { color: colors.get(nameOf(row))! };
  };
}

/** Means of figures and costs, sums of counts. */
function rowOf(label: string, same: readonly EvaluationData[], color: Colored): ResultRow {
  const records = same.map(({ record }) => record);
  const { note, model, simulated = false, checkpoint } = records[0]!;
  const methods = [...new Set(same.map(({ trained }) => trained?.method))];
  const speeds = simulated ? [] : same.flatMap(({ speed }) => speed ?? []);
  const cpu = speeds.flatMap(({ cpuPerSample }) => cpuPerSample ?? []);
  const rates = speeds.flatMap(({ tokensPerSecond }) => tokensPerSecond ?? []);
  return {
    ...{ label, aside: [], note, model, simulated, checkpoint, ...color, records },
    folders: same.map(({ folder }) => folder),
    method: methods.length === 1 ? methods[0] : undefined,
    own: same[0]!.trained !== undefined,
    kind: same[0]!.trained?.kind,
    config: same[0]!.trained?.config,
    seeds: same.length,
    asked: records.reduce((sum, { n }) => sum + n, 0),
    metrics: average(records.map(({ metrics }) => metrics)),
    slices: averageSlices(records),
    cost: averageCost(records),
    settings: (records[0]!.options?.switches as ResultRow['settings'] | undefined) ?? records[0]!.switches ?? {},
    misses: sumOf(records.map(({ misses }) => misses)),
    speed:
      speeds.length === 0
        ? undefined
        : {
            msPerSample: meanOf(speeds.map(({ msPerSample }) => msPerSample)),
            cpuPerSample: cpu.length > 0 ? meanOf(cpu) : undefined,
            tokensPerSecond: rates.length > 0 ? meanOf(rates) : undefined,
          },
  };
}

function averageCost(records: readonly EvaluationRecord[]): Record<string, Cost> {
  const keys = Object.keys(records[0]!.cost).filter((key) => records.every(({ cost }) => Object.hasOwn(cost, key)));
  return namedBy(
    keys.map((key): [string, Cost] => {
      const mean = (part: keyof Cost) => meanOf(records.map(({ cost }) => Number(cost[key]![part])));
      const max = Math.max(...records.map(({ cost }) => cost[key]!.max));
      return [key, { mean: mean('mean'), median: mean('median'), p95: mean('p95'), max, total: mean('total') }];
    }),
  );
}

function sumOf(all: readonly Readonly<Record<string, number>>[]): Record<string, number> {
  const sum = new Map<string, number>();
  for (const counts of all)
    for (const [key, count] of Object.entries(counts)) sum.set(key, (sum.get(key) ?? 0) + count);
  return namedBy(sum);
}
