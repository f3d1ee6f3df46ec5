/** Which evaluations of the same questions are one row, and what the row is called. */
import type { EvaluationData } from './evaluation-data.js';

/** Puts evaluations that differ in the seed alone together, and names rows by what sets them apart. */
export function rowsOf(members: readonly EvaluationData[]): { label: string; same: EvaluationData[] }[] {
  const settings = (one: EvaluationData) => {
    const { record, trained, hopsGiven } = one;
    const { agent, model, budget, budgetMode, switches, topicGiven, hashes } = record;
    const asked = [agent, model, budget, budgetMode, switches, topicGiven, hopsGiven];
    return JSON.stringify([...asked, trained ? [trained.settings, trained.checkpoint] : hashes.encoder]);
  };
  const rows = [...groupBy(members, settings).values()].flatMap((same) => {
    // One seed twice: the same measurement, or something else changed, and then they are not to be averaged.
    const seedOf = ({ record, trained }: EvaluationData) =>
      trained ? String(record.hashes.checkpoint) : String(record.seed);
    const distinct = [...groupBy(same, (one) => seedOf(one) + JSON.stringify(one.record.metrics)).values()].map(
      ([first]) => first!,
    );
    const seeds = new Set(distinct.map(seedOf));
    return seeds.size === distinct.length ? [distinct] : distinct.map((one) => [one]);
  });
  const trainings = new Set(rows.flatMap(([first]) => first!.trained?.settings ?? []));
  const plain = rows.map((same) => ({ label: labelOf(same[0]!, trainings.size > 1), same }));
  return apart(apart(plain, facetOf), ({ name }) => name.slice(-8));
}

/** Adds a word to labels that occur more than once. */
function apart(
  rows: readonly { label: string; same: EvaluationData[] }[],
  word: (one: EvaluationData) => string,
): { label: string; same: EvaluationData[] }[] {
  const count = (label: string) => rows.filter((row) => row.label === label).length;
  return rows.map((row) => {
    const more = count(row.label) > 1 ? word(row.same[0]!) : '';
    return more === '' ? row : { ...row, label: `${row.label}, ${more}` };
  });
}

function labelOf({ record: { agent, switches }, trained }: EvaluationData, several: boolean): string {
  const details = [
    ...(trained ? [trained.checkpoint, ...(several && trained.label !== agent ? [trained.label] : [])] : []),
    ...Object.entries(switches).map(([key, value]) => `${key}=${String(value)}`),
  ];
  return details.length > 0 ? `${agent} (${details.join('; ')})` : agent;
}

function facetOf({ record: { model, simulated, budget, budgetMode }, hopsGiven }: EvaluationData): string {
  const facets = [
    ...(model !== undefined && !simulated ? [model] : []),
    ...(model !== undefined ? [`budget ${budget ?? 'none'}`] : []),
    ...(budgetMode === 'reference' ? ['reference mode'] : []),
    ...(hopsGiven ? [] : ['hops withheld']),
  ];
  return facets.join(', ');
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
