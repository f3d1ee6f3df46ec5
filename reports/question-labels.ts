/** Which evaluations of the same questions are one row, and what the row is called. */
import { labelOf } from './agent-names.js';
import type { EvaluationData } from './evaluation-data.js';

interface LabelledRow {
  label: string;
  /** Evaluations that differ in the seed alone. */
  same: EvaluationData[];
}

/** Puts evaluations that differ in the seed alone together, and names rows by what sets them apart. */
export function rowsOf(members: readonly EvaluationData[]): LabelledRow[] {
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

/** Groups in the order in which their first members come. */
export function groupBy<T>(values: readonly T[], keyOf: (value: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const value of values) {
    const key = keyOf(value);
    groups.set(key, [...(groups.get(key) ?? []), value]);
  }
  return groups;
}
