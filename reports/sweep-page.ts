/** Page of a sweep: trials across their settings, importance of settings, curves, and the best trials. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { WorkbenchError } from '../src/run/errors.js';
import { display } from '../src/run/config-keys.js';
import { writeFileAtomic } from '../src/run/files.js';
import { readMetrics } from '../src/run/metric-log.js';
import { runFiles } from '../src/run/run-files.js';
import { openRun, runIn } from '../src/run/run-folder.js';
import { rankedTrials, trialsOf, type SweepInfo, type Trial, axesOf } from '../src/run/sweep.js';
import { type Fact, factsIn, type PageView, type PartView, renderPage, type RunView, type Table } from './html.js';
import { parallelAxes } from './parallel-axes.js';
import { type ChartGroup, type Drawn, pictureDrawer } from './pictures.js';
import { greys, palette } from './plots/colors.js';
import type { BarPlot, LinePlot } from './plots/plot.js';
import { plotsOf, type RunLog } from './plots/series.js';
import { measureOf } from './titles.js';
import type { Report } from './report.js';
import { loadRunData } from './run-data.js';
import { percent, plain } from './format.js';

/** Statistics of a sweep, computed by the caller. */
interface SweepFindings {
  /** Figure that selects trials. */
  metric: string | undefined;
  best?: { trial: number; value: number; low: number; high: number; n: number; command: string } | undefined;
  importance?:
    { settings: { key: string; share: number; deviation: number }[]; foretold: number; n: number } | undefined;
}

/** Formats a value of the figure. */
interface Writing {
  /** `path@1 on valid`. */
  name: string;
  isShare: boolean;
  write: (value: number) => string;
}

/**
 * Writes the page of a sweep, finished or not.
 * @param to folder, created if missing
 * @throws WorkbenchError `data` if no run was evaluated yet, `native` if charts cannot be drawn
 */
export async function writeSweepPage(
  sweep: SweepInfo,
  findings: SweepFindings,
  { to, title }: { to: string; title?: string },
): Promise<Report> {
  const { record } = sweep;
  const trials = trialsOf(record, sweep.events);
  const valued = trials.flatMap((trial) => (trial.value === undefined ? [] : [{ ...trial, value: trial.value }]));
  if (findings.metric === undefined || valued.length === 0) {
    throw new WorkbenchError('data', `expected a sweep with a run that was evaluated, got none, at ${sweep.folder}`, {
      hint: '`kgwalk runs list` shows its progress.',
    });
  }
  const writing = writingOf(findings.metric, valued, sweep.folder);
  const drawn: Drawn = { pictures: [], plots: [] };
  const draw = pictureDrawer(to, drawn);
  const ranked = rankedTrials(trials, record.better);
  const explained = importanceChart(findings.importance);
  const parts: PartView[] = [
    axesPart(sweep, valued, writing),
    ...(explained ? [{ heading: 'What explains the differences', figures: await draw([explained]) }] : []),
    { heading: 'Trials', table: trialTable(sweep, trials, ranked, writing), caption: tableCaption(sweep, writing) },
  ];
  const curves = curveChart(sweep, ranked, valued, findings.metric, writing);
  const { best } = findings;
  const view: PageView = {
    title: title ?? `${sweep.id}: ${record.preset}, ${trials.length} trials`,
    status: '',
    tiles: [],
    walk: undefined,
    done: doneText(sweep, trials),
    result: resultText(best, ranked, writing),
    reservations: best
      ? 'The best of many trials looks better than it is: it was chosen because it did well on valid. Train it again with other seeds, then evaluate on test once.'
      : '',
    facts: factsOf(sweep, trials),
    results: [{ title: '', parts }],
    noise: [],
    curves: curves ? await draw([curves]) : [],
    examples: [],
    costs: [],
    shared: [],
    runs: best ? [bestView(best, trials)] : [],
    diagnostics: [],
    plots: drawn.plots,
  };
  const page = join(to, 'index.html');
  writeFileAtomic(page, renderPage(view));
  return { page, pictures: drawn.pictures };
}

function writingOf(metric: string, valued: readonly { value: number; runs: Trial['runs'] }[], folder: string): Writing {
  // Evaluated runs record their counts.
  const evaluated = valued.flatMap(({ runs }) => runs).find(({ name }) => runIn(join(folder, name)));
  const evaluations = evaluated ? loadRunData(openRun(join(folder, evaluated.name))).evaluations : [];
  const figures = evaluations.flatMap(({ record }) => record.figures);
  const values = valued.map(({ value }) => value);
  const { title, unit } = measureOf(metric, figures, values);
  const isShare = unit === '%';
  const write = (value: number) => (isShare ? `${percent(value)} %` : plain(value));
  return { name: title.replace(/, %$/, ''), isShare, write };
}

const count = (number: number, word: string) => `${number} ${word}${number === 1 ? '' : 's'}`;

function doneText({ record, running }: SweepInfo, trials: readonly Trial[]): string {
  const { preset, dimensions, seeds, halving } = record;
  const how = dimensions.some(({ kind }) => kind !== 'grid') ? 'drawn at random' : 'from a grid';
  const stops = halving
    ? `, stopped early by halving (first look after ${halving.first} updates, η ${halving.eta})`
    : '';
  const open = Math.max(record.trials, trials.length) - trials.filter(({ state }) => state !== 'waiting').length;
  const left = ` ${count(open, 'trial')} still ${running ? 'to come or under way' : 'open: the sweep was stopped'}.`;
  const rest = open === 0 ? '' : left;
  return `${count(trials.length, 'trial')} of ${preset}, ${how}${stops}, ${count(seeds.length, 'seed')} each.${rest}`;
}

function resultText(best: SweepFindings['best'], ranked: readonly Trial[], { name, isShare, write }: Writing): string {
  if (!best) return 'No trial has finished yet.';
  const alike = ` with all of ${best.n} seeds`;
  // Student's interval of two seeds is unbounded.
  const [low, high] = isShare ? [Math.max(0, best.low), Math.min(1, best.high)] : [best.low, best.high];
  const interval =
    best.low === best.high
      ? alike
      : best.n > 1
        ? ` (95 % over ${best.n} seeds: ${write(low)} to ${write(high)})`
        : ', with one seed';
  return `Trial ${best.trial} is the best of ${count(ranked.length, 'finished trial')}: ${name} ${write(best.value)}${interval}.`;
}

function factsOf({ record }: SweepInfo, trials: readonly Trial[]): Fact[] {
  const of = (state: Trial['state']) => trials.filter((trial) => trial.state === state).length;
  return factsIn({
    preset: record.preset,
    finished: of('finished'),
    'stopped early': record.halving || of('stopped') > 0 ? of('stopped') : undefined,
    failed: of('failed'),
    seeds: record.seeds.join(', '),
    'seed of the draws': record.seed,
  });
}

function axesPart({ record }: SweepInfo, valued: readonly (Trial & { value: number })[], writing: Writing): PartView {
  const axes = axesOf(record);
  const shown = valued
    .filter(({ state }) => state !== 'failed')
    .map(({ trial, set, value, state }) => ({ label: `trial ${trial}`, set, value, isStopped: state === 'stopped' }));
  return {
    heading: 'From settings to figure',
    drawing: parallelAxes(axes, shown, { figure: writing.name, write: writing.write, better: record.better }),
    caption:
      'A line a trial, the stronger the better; the best in another colour, stopped ones dashed. Failed trials are left out. Point at a line to read it.',
  };
}

function importanceChart(importance: SweepFindings['importance']): ChartGroup | undefined {
  if (!importance) return undefined;
  const { settings, foretold, n } = importance;
  const bars = settings.map(({ key, share, deviation }) => ({
    ...{ label: key, color: palette[0], value: share, n },
    ...{ low: Math.max(0, share - deviation), high: Math.min(1, share + deviation) },
  }));
  const plot: BarPlot = { kind: 'bars', title: 'share of variance explained, %', unit: '%', bars };
  const shares = settings.map(({ key, share }) => `${key} ${percent(share)} %`).join(', ');
  const trust =
    foretold <= 0
      ? `The forest foretells nothing of trials that it did not see (out of bag R² ${foretold.toFixed(2)}): these shares mean nothing.`
      : `Of the differences between trials that it did not see the forest foretells ${percent(foretold)} % (out of bag R²): the less, the less these shares mean.`;
  return {
    caption: `Share of the variance of the figure that each setting explains alone: functional ANOVA over a forest of 128 regression trees (Hutter, Hoos and Leyton-Brown 2014), from ${count(n, 'finished trial')}; whiskers: standard deviation over the trees. What is left of 100 % belongs to settings together. ${trust}`,
    charts: [{ name: 'importance', alt: `Share of variance explained: ${shares}`, plot }],
  };
}

/** Maximum trials with a separate line. */
const colored = 6;

function curveChart(
  { folder, record }: SweepInfo,
  ranked: readonly Trial[],
  valued: readonly Trial[],
  metric: string,
  { name, isShare }: Writing,
): ChartGroup | undefined {
  const order = [...ranked, ...valued.filter(({ trial }) => !ranked.some((one) => one.trial === trial))];
  const courses = order.map(({ trial, runs }) => {
    return { label: `trial ${trial}`, runs: runs.map(({ name: run }) => logOf(join(folder, run), metric)) };
  });
  const rest = courses.slice(colored).flatMap(({ runs }) => runs);
  const others = courses.length - colored;
  const drawn = [
    ...courses.slice(0, colored).map((one, rank) => ({ ...one, color: palette[rank]! })),
    ...(others > 0
      ? [{ label: others === 1 ? 'the other one' : `the other ${others}`, color: greys[0], runs: rest }]
      : []),
  ];
  const logged = plotsOf(drawn, shownPhase, { axis: 'step', growing: true }).get(metric);
  const lines = logged?.lines.filter(({ x }) => x[0]!.length > 1) ?? [];
  if (lines.length === 0) return undefined;
  const unit = isShare ? '%' : '';
  const title = `${name}${isShare ? ', %' : ''}`;
  const plot: LinePlot = { kind: 'lines', title, unit, axes: ['updates'], lines, height: 340, smooths: false };
  const alt = `${title} by updates, ${count(courses.length, 'trial')}; the best is ${lines[0]!.label}`;
  return {
    caption: `Trials on valid as they were trained, each the mean over its seeds: the best ${Math.min(colored, courses.length)} by themselves${others > 0 ? ', the others as their mean' : ''}.${record.halving ? ' What was stopped ends early.' : ''}`,
    charts: [{ name: 'trials', alt, plot }],
  };
}

/** Phase under which all courses are drawn. */
const shownPhase = 'ppo';

/** The metric by PPO update, or by cloning step without PPO. */
function logOf(run: string, metric: string): RunLog {
  const file = runFiles(run).metrics;
  const records = existsSync(file) ? readMetrics(file).filter(({ metrics }) => Number.isFinite(metrics[metric])) : [];
  const last = records.findLast(({ phase }) => phase === 'ppo' || phase === 'clone')?.phase;
  const own = records.filter(({ phase }) => phase === last);
  return { metrics: own.map((record) => ({ ...record, phase: shownPhase })), timings: [] };
}

function trialTable(
  sweep: SweepInfo,
  trials: readonly Trial[],
  ranked: readonly Trial[],
  { name, write }: Writing,
): Table {
  const rest = ['stopped', 'waiting', 'failed'].flatMap((state) => trials.filter((trial) => trial.state === state));
  const keys = [...new Set(trials.flatMap(({ set }) => Object.keys(set)))];
  const severalSeeds = sweep.record.seeds.length > 1 || trials.some(({ runs }) => runs.length > 1);
  return {
    head: ['trial', name, ...(severalSeeds ? ['by seed'] : []), ...keys, 'state'],
    rows: [...ranked, ...rest].map((trial, i) => {
      const { value, runs, set, state, reason } = trial;
      const seeds = runs.flatMap(({ end }) => (end?.value === undefined ? [] : [write(end.value)]));
      return {
        own: i === 0 && ranked.length > 0,
        cells: [
          { text: String(trial.trial) },
          { text: value === undefined ? '' : write(value) },
          ...(severalSeeds ? [{ text: seeds.join(' · ') }] : []),
          ...keys.map((key) => ({ text: key in set ? display(set[key]) : '' })),
          { text: state, details: reason === undefined ? [] : [reason] },
        ],
      };
    }),
  };
}

function tableCaption({ record }: SweepInfo, { name }: Writing): string {
  const best = record.better === 'high' ? 'highest' : 'lowest';
  return `${name}: the ${best} that the run’s evaluations on valid logged, mean over the seeds. A stopped trial has the figure of the rung at which it was stopped.`;
}

function bestView({ trial, command }: NonNullable<SweepFindings['best']>, trials: readonly Trial[]): RunView {
  const { set } = trials.find((one) => one.trial === trial)!;
  const config = Object.entries(set).map(([key, value]) => `${key}: ${display(value)}`);
  return { title: `The best setting: trial ${trial}`, command, environment: [], config: config.join('\n') };
}
