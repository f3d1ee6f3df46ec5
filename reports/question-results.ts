/** Evaluations of questions as comparable rows: one an agent, averaged over seeds, apart for other questions and other simulations. */
import type { QuestionExample } from '../src/run/question-records.js';
import type { QuestionAbout, QuestionEvaluationRecord } from '../src/run/records.js';
import { resultOf } from './average-questions.js';
import type { EvaluationData, Speed } from './evaluation-data.js';
import { groupBy, rowsOf } from './question-labels.js';
import type { Figures } from './results.js';

/** Mean, median, 95th percentile, maximum and total over questions. */
export type Cost = QuestionEvaluationRecord['cost'][string];

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
