/** Curves of training: what was learned, large, and diagnostics. */
import { strokeOf } from './chart.js';
import { lineChart, type Level, type Line } from './line-chart.js';
import type { ChartGroup, NamedChart } from './pictures.js';
import type { ResultRow, ResultSet } from './results.js';
import { seedOf, type RunGroup } from './run-data.js';
import { curveOf, largest, seriesOfPhase, takenUpTo, type Curve, type Series, type Taken } from './series.js';
import { algorithmOf, figureNames, percent, plain } from './words.js';

const phaseTitles: Readonly<Record<string, string>> = {
  transe: 'TransE',
  bilinear: 'bilinear embeddings',
  clone: 'cloning',
};

/** What titles call a phase of these runs: of `ppo` what it optimised by, `PPO`, `REINFORCE` or both. */
export function phaseTitle(phase: string, groups: readonly RunGroup[]): string {
  if (phase !== 'ppo') return phaseTitles[phase] ?? phase;
  return [...new Set(groups.map(({ runs }) => algorithmOf(runs[0]!.info.config)))].sort().join(' and ');
}

/** What a step of a phase counts. */
const stepNames: Readonly<Record<string, string>> = {
  transe: 'epochs over the graph',
  bilinear: 'epochs over the graph',
  clone: 'updates',
  ppo: 'updates',
};

/** What the page shows large, in the order of training; all else is diagnostics. */
const learningMeasures: readonly (readonly [phase: string, key: string])[] = [
  ['transe', 'eval/mrr'],
  ['clone', 'train/loss'],
  ['clone', 'eval/path@1'],
  ['clone', 'eval/hit@1'],
  ['clone', 'eval/mrr'],
  ['ppo', 'rollout/reward'],
  ['ppo', 'rollout/hit_rate'],
  ['ppo', 'eval/path@1'],
  ['ppo', 'eval/target@1'],
  ['ppo', 'eval/hit@1'],
  ['ppo', 'eval/f1'],
  ['ppo', 'eval/mrr'],
  ['ppo', 'eval/tail_mrr'],
];

/** What is shown against wall time, too: where walking is all of the method, time is what runs are compared by. */
const againstTheClock: readonly string[] = ['rollout/hit_rate', 'eval/mrr'];

const titles: Readonly<Record<string, string>> = {
  'rollout/reward': 'mean reward of a walk',
  'train/loss': 'loss on train',
  'eval/mrr': 'mean reciprocal rank on valid, %',
  'eval/tail_mrr': 'mean reciprocal rank of tails on valid, %',
  'rollout/hit_rate': 'walks that end on the answer, %',
};

/** `path@1 on valid, %`. */
function titleOfMeasure(key: string): string {
  const [kind, ...rest] = key.split('/');
  const name = rest.join('/').replaceAll('_', ' ');
  const unit = isRate(key) ? ', %' : '';
  return titles[key] ?? `${figureNames[name] ?? name}${kind === 'eval' ? ' on valid' : ''}${unit}`;
}

/** Whether values are fractions that read as percent. */
function isRate(key: string): boolean {
  return key.includes('@') || /(hit_rate|mrr|accuracy|\/f1|exact|chain|fraction)$/.test(key);
}

/**
 * Learning curves in the order of training, with the best baseline and the clone as levels to compare PPO with.
 * @param valid results on the split that training is evaluated on; absent where none compare
 * @param about what the runs are trained on, where a report has runs of several kinds
 */
export function learningFigures(groups: readonly RunGroup[], valid?: ResultSet, about?: string): ChartGroup[] {
  const measured = learningMeasures.flatMap(([phase, key]) => {
    const clone =
      phase === 'ppo' && groups.length === 1 ? levelOf(valid, key, ({ record }) => record.checkpoint === 'clone') : [];
    const levels = phase === 'transe' ? [] : [...clone, ...levelOf(valid, key, ({ own }) => !own)];
    const bySteps = drawn(groups, phase, key, { about, levels });
    const isTimed = phase === 'ppo' && againstTheClock.includes(key);
    return [...bySteps, ...(isTimed ? drawn(groups, phase, key, { about, levels, taken: 'seconds' }) : [])];
  });
  if (measured.length === 0) return [];
  const caption = captionOf(groups, measured);
  return [
    { ...(about !== undefined && { heading: `On ${about}` }), charts: measured.map(({ chart }) => chart), caption },
  ];
}

/** Everything else that was logged at every step, by phase. */
export function diagnosticFigures(groups: readonly RunGroup[], about?: string): ChartGroup[] {
  const records = groups.flatMap(({ runs }) => runs.flatMap(({ metrics }) => metrics));
  const isLearning = (phase: string, key: string) => learningMeasures.some(([p, k]) => p === phase && k === key);
  return [...new Set(records.map(({ phase }) => phase))].flatMap((phase): ChartGroup[] => {
    const logged = records.flatMap((record) => (record.phase === phase ? Object.keys(record.metrics) : []));
    const keys = [...new Set(logged)].filter((key) => !isLearning(phase, key));
    const measured = keys.flatMap((key) => drawn(groups, phase, key, { about, levels: [] }));
    if (measured.length === 0) return [];
    const heading = `${phaseTitle(phase, groups)}${about === undefined ? '' : ` on ${about}`}`;
    const charts = measured.map(({ chart }) => chart);
    return [{ heading, charts, caption: captionOf(groups, measured) + stillOf(groups, phase, keys), minor: true }];
  });
}

interface Measured {
  chart: NamedChart;
  curves: Curve[];
  levels: readonly Level[];
}

/** The chart of one key of one phase, or nothing where it was not logged or never changed. */
function drawn(
  groups: readonly RunGroup[],
  phase: string,
  key: string,
  { about, levels, taken = 'time/env_steps' }: { about: string | undefined; levels: Level[]; taken?: Taken },
): Measured[] {
  const phaseName = phaseTitle(phase, groups);
  const lines = groups.flatMap((group, g): GroupLine[] => {
    const curve = curveOfGroup(group, phase, key);
    const label = groups.length > 1 ? group.label : phaseName;
    return curve.steps.length > 1 ? [{ label, ...strokeOf(g), curve, group }] : [];
  });
  if (new Set(lines.flatMap(({ curve }) => curve.mean)).size < 2) return [];
  const { lines: scaled, unit } = against(taken, phase, lines);
  // Without clocks there is but the chart that counts updates.
  if (taken === 'seconds' && unit === undefined) return [];
  const title = `${phaseName}: ${titleOfMeasure(key)}`;
  const xLabel = `${phaseName}, ${unit ?? stepNames[phase] ?? 'steps'}`;
  return [
    {
      curves: lines.map(({ curve }) => curve),
      levels,
      chart: {
        name: [...(about === undefined ? [] : [about]), phase, key, ...(taken === 'seconds' ? ['time'] : [])].join('-'),
        alt: `${title} by ${xLabel}: ${scaled.map((line) => said(line, key)).join('; ')}${levels.map(({ label, value }) => `; ${label} is at ${write(value, key)}`).join('')}`,
        chart: lineChart(scaled, { title, xLabel, percent: isRate(key), levels }),
      },
    },
  ];
}

function curveOfGroup({ runs }: RunGroup, phase: string, key: string): Curve {
  const seeds = runs.flatMap(({ metrics }): Series[] => {
    const series = seriesOfPhase(metrics, phase).get(key);
    return series ? [series] : [];
  });
  return curveOf(seeds, key);
}

interface GroupLine extends Line {
  group: RunGroup;
}

/** Lines over what was taken instead of updates, each by its own runs, where all runs tell it; `unit` is then set. */
function against(
  what: Taken,
  phase: string,
  lines: readonly GroupLine[],
): { lines: readonly Line[]; unit: string | undefined } {
  const taken = lines.map(({ group }) =>
    takenUpTo(
      group.runs.map(({ timings }) => timings),
      phase,
      what,
    ),
  );
  const isTold = lines.every(({ curve }, i) => curve.steps.every((step) => taken[i]?.has(step)));
  if (!isTold) return { lines, unit: undefined };
  const most = largest(taken.flatMap((one) => [...one!.values()]));
  const { scale, unit } = unitsOf[what].findLast(({ from }) => most >= from)!;
  return {
    lines: lines.map((line, i) => {
      const steps = line.curve.steps.map((step) => taken[i]!.get(step)! / scale);
      return { ...line, curve: { ...line.curve, steps } };
    }),
    unit,
  };
}

/** Units by the largest value from which they are used. */
const unitsOf: Readonly<Record<Taken, readonly { from: number; scale: number; unit: string }[]>> = {
  'time/env_steps': [
    { from: 0, scale: 1, unit: 'environment steps' },
    { from: 20_000, scale: 1000, unit: 'thousands of environment steps' },
    { from: 20_000_000, scale: 1_000_000, unit: 'millions of environment steps' },
  ],
  seconds: [
    { from: 0, scale: 1, unit: 'seconds' },
    { from: 120, scale: 60, unit: 'minutes' },
    { from: 7200, scale: 3600, unit: 'hours' },
  ],
};

/** Where a curve begins and ends, and its highest point where that is neither. */
function said({ label, curve: { steps, mean } }: Line, key: string): string {
  const [first, last] = [mean[0]!, mean.at(-1)!];
  const highest = mean.indexOf(largest(mean));
  const between = highest > 0 && highest < mean.length - 1 && !/loss|rate$|norm|kl/.test(key);
  const peak = between ? `, highest ${write(mean[highest]!, key)} at ${plain(steps[highest]!)}` : '';
  const way = last > first ? 'rises' : last < first ? 'falls' : 'stays';
  return `${label} ${way} from ${write(first, key)} to ${write(last, key)}${peak}`;
}

function write(value: number, key: string): string {
  return isRate(key) ? `${percent(value)} %` : plain(value);
}

function levelOf(valid: ResultSet | undefined, key: string, isMeant: (row: ResultRow) => boolean): Level[] {
  const row = valid?.rows.find(isMeant);
  const figure = row?.metrics[key.replace('eval/', '')];
  return row && figure && key.startsWith('eval/') ? [{ label: row.label, value: figure.value }] : [];
}

/** Of single-valued figures, which are not drawn. */
function stillOf(groups: readonly RunGroup[], phase: string, keys: readonly string[]): string {
  const still = keys.flatMap((key) => {
    const values = new Set(groups.flatMap((group) => curveOfGroup(group, phase, key).mean));
    return values.size === 1 ? [`${titleOfMeasure(key)} = ${plain([...values][0]!)}`] : [];
  });
  return still.length > 0 ? ` Constant throughout: ${still.join('; ')}.` : '';
}

function captionOf(groups: readonly RunGroup[], measured: readonly Measured[]): string {
  const curves = measured.flatMap((one) => one.curves);
  const seeds = groups.map(({ label, runs }) => {
    const list = runs.map(seedOf).join(', ');
    return `${groups.length > 1 ? `${label}: ` : ''}${runs.length > 1 ? 'seeds' : 'seed'} ${list}`;
  });
  const most = Math.max(...groups.map(({ runs }) => runs.length));
  const windows = [...new Set(curves.map(({ window }) => window))].filter((window) => window > 1);
  const { evalSamples } = (groups[0]!.runs[0]!.info.config.ppo ?? {}) as { evalSamples?: unknown };
  const isEvaluated = measured.some(({ chart }) => chart.name.includes('ppo-eval/'));
  const isLevelled = measured.some(({ levels }) => levels.length > 0);
  return [
    `Of ${seeds.join('; ')}.`,
    most > 1 && 'Thick: mean over seeds; thin: each seed.',
    curves.some((curve) => curve.interval) && 'Shaded: 95\u00a0% interval of the mean over seeds (Student’s t).',
    windows.length > 0
      ? `Smoothing: moving mean over ${windows.sort((a, b) => a - b).join(' or ')} points; evaluations are as measured.`
      : 'No smoothing.',
    typeof evalSamples === 'number' &&
      isEvaluated &&
      `Evaluated on a fixed sample of ${plain(evalSamples)} of valid, or all of it where it has no more${isLevelled ? '; dashed levels are of all of it' : ''}.`,
  ]
    .filter(Boolean)
    .join(' ');
}
