/** Evaluations for the page: agents on the same samples, their differences, and worked examples. */
import { type Comparison, compareEvaluations } from '../evaluation/compare.js';
import { readEvaluation } from '../evaluation/keep.js';
import type { Compared, Measure, Row } from '../evaluation/score.js';
import { drawingOf, saidView } from '../reports/examples.js';
import { collectResults, headOf, mainFigures, type ResultSet } from '../reports/results.js';
import { type EvaluationData, loadEvaluation, type RunData, subjectsOf } from '../reports/run-data.js';
import { captionOf, titleOf } from '../reports/sections.js';
import { differenceCell, resultTable } from '../reports/tables.js';
import { WorkbenchError } from '../src/run/errors.js';
import type { EvaluationRecord } from '../src/run/evaluation.js';
import type { Figure, TestedDifference } from '../src/run/figures.js';
import { evaluationFiles } from '../src/run/run-files.js';
import { loadTask, type TaskName, taskNames } from '../tasks/index.js';
import type { ShownComparison, ShownExample, ShownSet, ShownTable } from './api.js';
import { type Place, plainFile, refuseLinks } from '../src/run/places.js';
import { readPlacedRun, type World } from './runs.js';

/** Reads evaluations and caches each until it changes; keep one per server. */
export function openResults(world: World) {
  const known = new Map<string, { at: string; data: EvaluationData }>();

  const read = (place: Place): EvaluationData | undefined => {
    const { evaluation, asked, answers, timing, seal } = evaluationFiles(place.folder);
    refuseLinks([evaluation, asked, answers, timing, seal]);
    const found = plainFile(evaluation);
    if (!found) return undefined;
    const at = `${found.mtimeMs} ${found.size} ${found.ino}`;
    const before = known.get(place.folder);
    if (before?.at === at) return before.data;
    const run = place.within === undefined ? undefined : world.look().places.get(place.within);
    const data = loadEvaluation(place.folder, run?.kind === 'run' ? readPlacedRun(run) : undefined);
    known.set(place.folder, { at, data });
    return data;
  };

  const open = (key: string): { place: Place; data: EvaluationData } => {
    const place = world.place(key, 'evaluation');
    const data = read(place);
    if (data) return { place, data };
    throw new WorkbenchError('data', `expected a finished evaluation, got one under way, at ${key}`);
  };

  const sets = (): ShownSet[] => {
    const places = [...world.look().places.values()];
    const all = places.flatMap((place) => {
      const data = place.kind === 'evaluation' ? unlessBroken(() => read(place)) : undefined;
      return data ? [{ place, data }] : [];
    });
    const runs = places.flatMap((place): RunData[] => {
      const evaluations = all.flatMap((one) => (one.place.within === place.key ? [one.data] : []));
      const info = place.kind === 'run' && evaluations.length > 0 && unlessBroken(() => readPlacedRun(place));
      return info ? [{ info, metrics: [], timings: [], evaluations }] : [];
    });
    const keys = new Map(all.map(({ place, data }) => [data.record, place.key]));
    const evaluations = all.map(({ data }) => data);
    return collectResults(evaluations, subjectsOf(runs)).map((set) => shownSet(set, keys));
  };

  return {
    /** Finished evaluations in comparable sets; runs of one setting are averaged over seeds. */
    sets,

    /** The worked examples of an evaluation. */
    examples(key: string): { agent: string; examples: ShownExample[] } {
      const { agent, examples } = open(key).data.record;
      const shown = (one: (typeof examples)[number]) => ({
        ...one,
        verdict: saidView(one).verdict,
        drawing: drawingOf(one),
      });
      return { agent, examples: examples.map(shown) };
    },

    /**
     * Tests evaluations of the same samples against one of them, as `kgwalk compare` does.
     * @param against key of the reference
     * @param mixed allows different models and budgets
     * @throws WorkbenchError as `compareEvaluations`
     */
    async compare(keys: readonly string[], against: string, mixed = false): Promise<ShownComparison> {
      if (keys.length < 2 || !keys.includes(against)) {
        throw new WorkbenchError('usage', 'expected two evaluations or more, and one of them to compare with');
      }
      const opened = keys.map((key) => ({ key, ...open(key) }));
      const names = namesOf(sets(), keys);
      const { task } = opened[0]!.data.record;
      if (!taskNames.includes(task as TaskName)) {
        throw new WorkbenchError('data', `expected evaluations of ${taskNames.join(', ')}, got one of ${task}`);
      }
      const { measure }: { measure: Measure<Row> } = await loadTask(task as TaskName);
      const views = opened.flatMap(({ key, place: { folder } }, i) => {
        const one: Compared<Row> = { name: names[i]!, ...readEvaluation(folder, measure) };
        return (measure.views?.(one) ?? [one]).map((view) => ({ key, view }));
      });
      const at = views.findIndex(({ key }) => key === against);
      const reference = views[at]!.view;
      const compared = views.map(({ view }) => view);
      const comparisons = compareEvaluations(measure, compared, { mixed }, at);
      const { n, clusters, figures } = reference.record;
      const tested = figures.filter((figure) => figure.tested);
      const table = comparisonTable(tested, comparisons);
      return { against: { key: against, name: reference.name }, n, clusters, figures: tested, comparisons, table };
    },
  };
}

/** A broken folder hides no other in the list; requested directly, it gives its error. */
function unlessBroken<T>(get: () => T): T | undefined {
  try {
    return get();
  } catch (error) {
    if (error instanceof WorkbenchError) return undefined;
    throw error;
  }
}

/** Names as in tables; of several seeds, with the run's name. */
function namesOf(sets: readonly ShownSet[], keys: readonly string[]): string[] {
  const rows = sets.flatMap((set) => set.rows);
  return keys.map((key) => {
    const row = rows.find(({ evaluations }) => evaluations.includes(key));
    if (!row) return key;
    return row.evaluations.length > 1 ? `${row.label}, ${key.split('/')[0]}` : row.label;
  });
}

/** Differences from the reference, then those within slices, in the main figures that were tested. */
function comparisonTable(tested: readonly Figure[], comparisons: readonly Comparison[]): ShownTable {
  const all = tested.filter(({ key }) => comparisons.some(({ differences }) => differences[key]));
  const main = mainFigures({ figures: all });
  const figures = main.length > 0 ? main : all;
  const row = (name: string, differences: Comparison['differences'], own: boolean) => ({
    own,
    cells: [{ text: name }, ...figures.map((figure) => markedCell(differences[figure.key], figure))],
  });
  const rows = comparisons.flatMap(({ agent, differences, slices = {} }) => [
    row(agent, differences, true),
    ...Object.entries(slices).map(([slice, own]) => row(slice.replace('=', ': '), own, false)),
  ]);
  return { head: ['agent', ...figures.map(headOf)], rows };
}

function markedCell(one: TestedDifference | undefined, figure: Figure): ShownTable['rows'][number]['cells'][number] {
  const isSure = one && (one.low > 0 || one.high < 0);
  const kind = !isSure ? undefined : one.value > 0 === (figure.better === 'high') ? 'better' : 'worse';
  return { ...differenceCell(one, figure), kind };
}

function shownSet(set: ResultSet, keys: ReadonlyMap<EvaluationRecord, string>): ShownSet {
  const { title, samples, simulated, about, figures, rows } = set;
  return {
    ...{ title, samples, task: about.task, dataset: about.dataset, simulated, figures: [...figures] },
    rows: rows.map(({ label, aside, own, seeds, metrics, cost, records }) => ({
      ...{ label, aside, own, seeds, metrics },
      evaluations: records.flatMap((record) => keys.get(record) ?? []),
      cost: Object.fromEntries(Object.entries(cost).map(([kind, { mean }]) => [kind, mean])),
      examples: records[0]!.examples.length,
    })),
    shown: { heading: titleOf(set), table: resultTable(set), caption: captionOf(set) },
  };
}
