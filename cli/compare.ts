/** `kgwalk compare`: agents, runs and kept evaluations on the same samples. */
import type { Command } from 'commander';
import { resolve } from 'node:path';
import type { Measure, Row } from '../evaluation/score.js';
import type { Prices } from '../reports/tables.js';
import type { NamedEvaluation } from '../tasks/evaluate.js';
import type { Choices, EvaluationFlags } from '../tasks/flags.js';
import { addInputOptions, groupOptions } from './options.js';
import { printJson, printLine, printNote } from './output.js';

/** Adds `kgwalk compare`. */
export function register(program: Command): void {
  const command = program
    .command('compare')
    .description('evaluate agents and runs on the same samples, and test each against the last one named')
    .argument(
      '<agent...>',
      'names of agents (random, frequency, io, fiske, fiske:stateful=false …; on links transe, bilinear, rules, random), names or folders of runs, RUN@clone for a checkpoint, RUN+RUN for several as one, and of kept evaluations; all, prompted and baselines are those of the data set; fiske:maxStarts={1,2,3} is three agents',
    )
    .option('--mixed', 'allow different models and budgets')
    .option('--report <dir>', 'write the page of `kgwalk report` there');
  groupOptions(addInputOptions(command, true)).action(compare);
}

type Flags = Omit<EvaluationFlags, 'choices'> & {
  choices?: Choices[];
  mixed?: boolean;
  report?: string;
  maxMinutes?: number;
  json?: boolean;
};

async function compare(
  words: string[],
  { mixed = false, report, maxMinutes, json, choices = [], ...given }: Flags,
): Promise<void> {
  const { taskFor, terminalWork } = await import('./terminal.js');
  const { evaluateNamed, keepBeside } = await import('../tasks/evaluate.js');
  const { inEveryWay, withoutBraces, withoutGroups } = await import('../tasks/named-groups.js');
  const { compareEvaluations } = await import('../evaluation/compare.js');
  const { trainingCostOf } = await import('../tasks/training-cost.js');
  const { foundEvaluation, readEvaluation } = await import('../evaluation/keep.js');
  const flags: EvaluationFlags = { ...given, choices: choices[0] };
  const spelled = words.flatMap(withoutBraces);
  const task = await taskFor(
    spelled.map((name) => ({ name })),
    flags,
  );
  const wanted = withoutGroups(task, spelled, flags, printNote);
  // Removes repeats, keeping the last one: the last agent named is the reference of the tests.
  const names = wanted.filter((name, i) => wanted.lastIndexOf(name) === i);
  const isKept = (name: string) => foundEvaluation(name, flags.evaluations) !== undefined;
  const live = names.filter((name) => !isKept(name)).flatMap((name) => inEveryWay(task, name, choices));
  const asks = ({ name }: { name: string }) => task.agents.has(name) && task.agents.asksModel(name);
  flags.alike = live.some(asks) && flags.giveHops !== true;
  const measure: Measure<Row> = task.measure;
  const kept = names.filter(isKept).map((name): NamedEvaluation<Row> => {
    return { name, failures: [], ...readEvaluation(name, measure, flags.evaluations) };
  });
  const asked =
    live.length > 0 ? await evaluateNamed(task, live, flags, terminalWork(maxMinutes), { comparedWith: kept }) : [];
  if (flags.evaluations === undefined) keepBeside(asked);
  const evaluationsOf = (name: string) =>
    isKept(name) ? kept.filter((one) => one.name === name) : asked.filter((_, i) => live[i]!.name === name);
  const views = names.flatMap(evaluationsOf).map((evaluation) => measure.views?.(evaluation) ?? [evaluation]);
  const evaluations = views.flat().map((one) => ({ ...one, training: trainingCostOf(one, one.runFolder) }));
  // The last one named, by the first of its views.
  const against = evaluations.length - views.at(-1)!.length;
  const comparisons = compareEvaluations(measure, evaluations, { mixed }, against);
  const together = task.results?.together?.(evaluations);
  const folders = [...new Set(evaluations.map(({ folder }) => folder))];
  const { pricesOf } = await import('../tasks/language-model.js');
  const prices = pricesOf(flags.modelSet);
  const page = report === undefined ? undefined : await pageOf(folders, report, prices);
  if (json) {
    const agents = evaluations.map(({ name, record, speed, training }) => ({ name, ...record, speed, training }));
    return printJson({ agents, comparisons, ...(together?.json as object | undefined), report: page });
  }
  const { printComparison } = await import('./evaluation-tables.js');
  const { name, title = name } = evaluations[against]!;
  printComparison(evaluations, comparisons, title, together?.sections, prices?.of);
  if (page) printLine(`report: ${page.page}`);
}

async function pageOf(evaluations: readonly string[], folder: string, prices: Prices | undefined) {
  const { writeReport } = await import('../reports/report.js');
  const { keptStatistics } = await import('../tasks/kept-statistics.js');
  return writeReport([], { to: resolve(folder), evaluations, statistics: keptStatistics, prices });
}
