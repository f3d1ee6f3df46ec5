/** Evaluations of questions as comparable rows: one an agent, averaged over seeds, apart for other questions and other simulations. */
import type { QuestionExample } from '../src/run/question-records.js';
import type { QuestionAbout, QuestionEvaluationRecord } from '../src/run/records.js';
import { groupBy, type EvaluationData, type Speed } from './run-data.js';
import { average, averageSlices, meanOf, type Figures } from './series.js';
import { labelOf } from './words.js';

/** Mean, median, 95th percentile, maximum and total over questions. */
type Cost = QuestionEvaluationRecord['cost'][string];

/** One agent's figures on one set of questions. */
export interface QuestionResult {
  label: string;
  note?: string;
  /** Language model; absent for agents that ask none. */
  model?: string;
  simulated: boolean;
  /** Whether it was trained by a run. */
  own: boolean;
  /** Which colour it has in every chart of the report. */
  color: number;
  /** How many evaluations were averaged. */
  seeds: number;
  /** Questions that were asked, those of all seeds. */
  asked: number;
  metrics: Figures;
  slices: Readonly<Record<string, Figures>>;
  cost: Readonly<Record<string, Cost>>;
  /** Sums over seeds. */
  phases: QuestionEvaluationRecord['phases'];
  stops: Readonly<Record<string, number>>;
  misses: Readonly<Record<string, number>>;
  /** One a seed. */
  budgetCurves: QuestionEvaluationRecord['budgetCurve'][];
  /** Absent for simulated models, whose time says nothing. */
  speed?: Speed;
  examples: readonly QuestionExample[];
}

/** All agents on the same questions; of simulations, those with one error rate. */
export interface QuestionSet extends Pick<
  QuestionAbout,
  'dataset' | 'graph' | 'subsets' | 'split' | 'holdOut' | 'limit' | 'simulated'
> {
  labels: readonly string[];
  /** Equal for sets of the same questions. */
  questions: string;
  n: number;
  excluded: Readonly<Record<string, number>>;
  /** Name of the simulated model, such as `oracle:0.1`. */
  model?: string;
  /** `hit@1`, or `accuracy` where all questions are of truth. */
  main: string;
  /** Best first; of equals, those with fewer calls. */
  rows: QuestionResult[];
}

/** Collects evaluations. Agents that ask no model stand beside real models and beside simulated ones, which never meet. */
export function collectQuestions(all: readonly EvaluationData[]): QuestionSet[] {
  const colors = new Map<string, number>();
  const sets = [...groupBy(all, ({ questions }) => questions).values()].flatMap((same) => {
    const free = same.filter(({ record }) => record.model === undefined);
    const asked = same.filter(({ record }) => record.model !== undefined);
    const kinds = groupBy(asked, ({ record }) => (record.simulated ? record.model! : ''));
    if (kinds.size === 0) return [questionSet(free, colors)];
    return [...kinds.values()].map((some) => questionSet([...some, ...free], colors));
  });
  // Trained agents beside others first, then real models, then agents alone, then simulated ones by their error; larger
  // sets before smaller.
  const rank = ({ simulated, model, rows }: QuestionSet) => {
    if (simulated) return 1 + (oracleError(model) ?? 0);
    return rows.length === 1 ? 0 : rows.some(({ own }) => own) ? -2 : -1;
  };
  return sets.sort((a, b) => rank(a) - rank(b) || b.rows.length - a.rows.length);
}

/** The error rate of a simulated model by its name, a fraction; undefined for other names. */
export function oracleError(model: string | undefined): number | undefined {
  const [, rate] = /^oracle:([\d.e-]+)$/.exec(model ?? '') ?? [];
  return rate === undefined ? undefined : Number(rate);
}

/** `metaqa, 2-hop, dev-valid`, with its labels, and `simulated` where it is. */
export function titleOfQuestions({ dataset, labels, subsets, split, simulated, model }: QuestionSet): string {
  const marks = labels.map((label) => ` [${label}]`).join('');
  return `${dataset}${marks}, ${subsets.join(' + ')}, ${split}${simulated ? `, simulated by ${model}` : ''}`;
}

/** What must stand in the title of every chart of a set. */
export function markOf({ simulated, model, labels }: QuestionSet): string {
  const marks = [...labels, ...(simulated ? [`simulated, ${model}`] : [])];
  return marks.length > 0 ? ` (${marks.join('; ')})` : '';
}

function questionSet(members: readonly EvaluationData[], colors: Map<string, number>): QuestionSet {
  const simulated = members.find(({ record }) => record.simulated)?.record;
  const { dataset, graph, subsets, split, holdOut, limit, n, excluded } = members[0]!.record;
  const labels = [...new Set(members.flatMap(({ record }) => record.labels ?? []))];
  const main = members.some(({ record }) => record.metrics['hit@1']) ? 'hit@1' : 'accuracy';
  const rows = rowsOf(members).map(({ label, same }) => {
    if (!colors.has(label)) colors.set(label, colors.size);
    return resultOf(label, same, colors.get(label)!);
  });
  return {
    dataset,
    graph,
    subsets,
    split,
    holdOut,
    ...(limit !== undefined && { limit }),
    simulated: simulated !== undefined,
    labels,
    questions: members[0]!.questions,
    n,
    excluded,
    ...(simulated && { model: simulated.model! }),
    main,
    rows: rows.sort((a, b) => mainValue(main, b) - mainValue(main, a) || callsOf(a) - callsOf(b)),
  };
}

const mainValue = (main: string, { metrics }: QuestionResult) => metrics[main]?.value ?? -1;

const callsOf = ({ metrics }: QuestionResult) => metrics['calls.mean']?.value ?? 0;

interface LabelledRow {
  label: string;
  /** Evaluations that differ in the seed alone. */
  same: EvaluationData[];
}

/** Puts evaluations that differ in the seed alone together, and names rows by what sets them apart. */
function rowsOf(members: readonly EvaluationData[]): LabelledRow[] {
  const settings = (one: EvaluationData) => {
    const { record, trained } = one;
    const { agent, model, budget, budgetMode, switches, topicGiven, hopsWithheld, hashes } = record;
    const asked = [agent, model, budget, budgetMode, switches, topicGiven, hopsWithheld];
    return JSON.stringify([...asked, trained ? [trained.settings, trained.checkpoint] : hashes.encoder]);
  };
  const rows = [...groupBy(members, settings).values()].flatMap((same) => {
    // One seed twice: the same measurement, or something else changed, and then they are not to be averaged.
    const seedOf = ({ record, trained }: EvaluationData) =>
      trained ? String(record.hashes.checkpoint) : String(record.seed);
    const distinct = [...groupBy(same, (one) => seedOf(one) + JSON.stringify(one.record.metrics)).values()].map(
      (twice) => twice.find(({ speed }) => speed) ?? twice[0]!,
    );
    const seeds = new Set(distinct.map(seedOf));
    return seeds.size === distinct.length ? [distinct] : distinct.map((one) => [one]);
  });
  const trainings = new Set(rows.flatMap(([first]) => first!.trained?.settings ?? []));
  const plain = rows.map((same) => ({ label: nameOf(same[0]!, trainings.size > 1), same }));
  return apart(apart(plain, facetsOf), ({ tag }) => [tag]);
}

/** Adds to labels that occur more than once the words in which their rows differ. */
function apart(rows: readonly LabelledRow[], wordsOf: (one: EvaluationData) => readonly string[]): LabelledRow[] {
  return rows.map((row) => {
    const alike = rows.filter(({ label }) => label === row.label).map(({ same }) => wordsOf(same[0]!));
    const words = wordsOf(row.same[0]!).filter((word, i) => word !== '' && alike.some((other) => other[i] !== word));
    return { ...row, label: [row.label, ...words].join(', ') };
  });
}

function nameOf({ record: { agent, switches }, trained }: EvaluationData, several: boolean): string {
  const name = trained?.method ?? agent;
  const switched = Object.entries(switches).map(([key, value]) => `${key}=${String(value)}`);
  return labelOf(name, [...(trained ? [trained.checkpoint, ...(several ? [trained.label] : [])] : []), ...switched]);
}

/** What a label leaves out, each at its place; simulated models are one a set. */
function facetsOf({ record: { model, simulated, budget, budgetMode, hopsWithheld } }: EvaluationData): string[] {
  return [
    simulated ? '' : (model ?? ''),
    model === undefined ? '' : `budget ${budget ?? 'none'}`,
    budgetMode === 'reference' ? 'reference mode' : '',
    hopsWithheld ? 'hops withheld' : '',
  ];
}

/** Means of figures and costs, sums of counts. @param color of the row in every chart */
function resultOf(label: string, same: readonly EvaluationData[], color: number): QuestionResult {
  const records = same.map(({ record }) => record);
  const { note, model, simulated } = records[0]!;
  const speeds = simulated ? [] : same.flatMap(({ speed }) => speed ?? []);
  const rates = speeds.flatMap(({ tokensPerSecond }) => tokensPerSecond ?? []);
  return {
    label,
    ...(note !== undefined && { note }),
    ...(model !== undefined && { model }),
    simulated,
    own: same[0]!.trained !== undefined,
    color,
    seeds: same.length,
    asked: records.reduce((sum, { n }) => sum + n, 0),
    metrics: average(records.map(({ metrics }) => metrics)),
    slices: averageSlices(records),
    cost: averageCost(records),
    phases: sumOfPhases(records),
    stops: sumOf(records.map(({ stops }) => stops)),
    misses: sumOf(records.map(({ misses }) => misses)),
    budgetCurves: records.map(({ budgetCurve }) => budgetCurve),
    ...(speeds.length > 0 && {
      speed: {
        msPerQuestion: meanOf(speeds.map(({ msPerQuestion }) => msPerQuestion)),
        ...(rates.length > 0 && { tokensPerSecond: meanOf(rates) }),
      },
    }),
    examples: same.find(({ examples }) => examples.length > 0)?.examples ?? [],
  };
}

function averageCost(records: readonly QuestionEvaluationRecord[]): Record<string, Cost> {
  const keys = Object.keys(records[0]!.cost).filter((key) => records.every(({ cost }) => cost[key]));
  return Object.fromEntries(
    keys.map((key) => {
      const mean = (part: keyof Cost) => meanOf(records.map(({ cost }) => cost[key]![part]));
      const max = Math.max(...records.map(({ cost }) => cost[key]!.max));
      return [key, { mean: mean('mean'), median: mean('median'), p95: mean('p95'), max, total: mean('total') }];
    }),
  );
}

function sumOfPhases(records: readonly QuestionEvaluationRecord[]): QuestionEvaluationRecord['phases'] {
  const names = [...new Set(records.flatMap(({ phases }) => Object.keys(phases)))];
  return Object.fromEntries(
    names.map((name) => {
      const some = records.flatMap(({ phases }) => phases[name] ?? []);
      const calls = some.reduce((sum, phase) => sum + phase.calls, 0);
      return [name, { calls, stages: sumOf(some.map(({ stages }) => stages)) }];
    }),
  );
}

function sumOf(all: readonly Readonly<Record<string, number>>[]): Record<string, number> {
  // Names are data's: as keys of an object, some would find what every object has.
  const sum = new Map<string, number>();
  for (const counts of all)
    for (const [key, count] of Object.entries(counts)) sum.set(key, (sum.get(key) ?? 0) + count);
  return Object.fromEntries(sum);
}
