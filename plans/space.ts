/** Search space of a sweep: settings with values or ranges from the command line, validated by the schema. */
import { loadPreset } from '../presets/index.js';
import { parseConfigText, parseOverride } from '../src/run/config-source.js';
import { WorkbenchError } from '../src/run/errors.js';
import { printable } from '../src/run/printable.js';
import type { Dimension, SweepRecord } from '../src/run/sweep.js';
import { Rng } from '../src/run/seeds.js';

type Range = Extract<Dimension, { low: number }>;
const rangeKinds: readonly string[] = ['uniform', 'log', 'int', 'logint'] satisfies Range['kind'][];

const sampleForms = 'log:1e-4..1e-2, uniform:0..1, int:1..8, logint:16..512 or choice:a,b';

const isRange = (dimension: Dimension): dimension is Range => rangeKinds.includes(dimension.kind);

/** Settings that cannot be varied, with alternatives. */
const fixed: Readonly<Record<string, string>> = {
  seed: 'Every trial is run with each of --seeds.',
  name: 'Trials are named by their number.',
};

/**
 * What `--grid` and `--sample` say.
 * @param grid such as `ppo.clipRange=0.1,0.2`
 * @param sample such as `ppo.learningRate=log:1e-4..1e-2`
 * @throws WorkbenchError `usage` for a text that says no values or a range that is none, or a repeated key
 */
export function parseSpace(grid: readonly string[], sample: readonly string[]): Dimension[] {
  const dimensions = [...grid.map(parseGrid), ...sample.map(parseSample)];
  if (dimensions.length === 0) {
    throw new WorkbenchError('usage', 'expected something to vary, got neither --grid nor --sample', {
      hint: `Such as --grid ppo.clipRange=0.1,0.2 or --sample ppo.learningRate=log:1e-4..1e-2.`,
    });
  }
  const keys = dimensions.map(({ key }) => key);
  const twice = keys.find((key, i) => keys.indexOf(key) < i);
  if (twice !== undefined) throw new WorkbenchError('usage', `expected every key once, got ${twice} twice`);
  return dimensions;
}

function parseGrid(text: string): Dimension {
  const { key, rest } = keyed(text, '--grid');
  return { key, kind: 'grid', values: valuesIn(rest, `--grid ${key}`) };
}

function parseSample(text: string): Dimension {
  const { key, rest } = keyed(text, '--sample');
  const place = `--sample ${key}`;
  const [kind, body] = /^(\w+):(.*)$/s.exec(rest)?.slice(1) ?? [];
  if (kind === 'choice') return { key, kind, values: valuesIn(body!, place) };
  if (kind === undefined || !rangeKinds.includes(kind)) {
    throw new WorkbenchError('usage', `expected ${sampleForms}, got ${printable(rest, 60) || 'nothing'}, at ${place}`);
  }
  return rangeOf(key, kind as Range['kind'], body!, place);
}

function rangeOf(key: string, kind: Range['kind'], text: string, place: string): Range {
  const ends = text.split('..');
  const [low, high] = ends.map((end) => (end.trim() === '' ? NaN : Number(end))) as [number, number];
  const refuse = (expected: string) => {
    throw new WorkbenchError('usage', `expected ${expected}, got ${printable(text, 60) || 'nothing'}, at ${place}`);
  };
  if (ends.length !== 2 || !Number.isFinite(low) || !Number.isFinite(high)) refuse('a range such as 0.1..0.9');
  if (low >= high) refuse('a range whose first end is below its second');
  if (kind.startsWith('log') && low <= 0) refuse(`a range above 0 with ${kind}`);
  if (kind.endsWith('int') && !(Number.isInteger(low) && Number.isInteger(high))) refuse('a range of whole numbers');
  return { key, kind, low, high };
}

function keyed(text: string, flag: string): { key: string; rest: string } {
  const equals = text.indexOf('=');
  const key = text.slice(0, equals).trim();
  if (equals < 1) {
    throw new WorkbenchError('usage', `expected KEY=…, got ${printable(text, 60) || 'nothing'}, at ${flag}`);
  }
  const why = fixed[key];
  if (why) throw new WorkbenchError('usage', `expected a setting that may vary, got ${key}, at ${flag}`, { hint: why });
  return { key, rest: text.slice(equals + 1).trim() };
}

/** Comma-separated values, each YAML as with `--set`: lists in brackets. */
function valuesIn(text: string, place: string): unknown[] {
  const { value, problems } = parseConfigText(`[${text}]`, place);
  if (problems.length > 0) throw new WorkbenchError('usage', problems[0]!.replace(/:\d+$/, ''));
  const values = value as unknown[];
  if (values.length === 0)
    throw new WorkbenchError('usage', `expected values with commas between, got none, at ${place}`);
  const texts = values.map((one) => JSON.stringify(one));
  const twice = texts.find((one, i) => texts.indexOf(one) < i);
  if (twice !== undefined)
    throw new WorkbenchError('usage', `expected every value once, got ${twice} twice, at ${place}`);
  return values;
}

/** A dimension as on the command line, without its key: `0.1,0.2` or `log:0.0001..0.01`. */
export function dimensionText(dimension: Dimension): string {
  if (isRange(dimension)) return `${dimension.kind}:${dimension.low}..${dimension.high}`;
  const values = dimension.values.map((value) => (typeof value === 'string' ? value : JSON.stringify(value))).join(',');
  return dimension.kind === 'choice' ? `choice:${values}` : values;
}

/** Significant digits of a sampled number: enough to distinguish values that train differently, few enough to read. */
const digits = 4;

/** Value at a position in the range. @param index in [0, 1) */
export function valueAt(dimension: Exclude<Dimension, { kind: 'grid' }>, index: number): unknown {
  if (dimension.kind === 'choice') return dimension.values[Math.floor(index * dimension.values.length)];
  const { kind, low, high } = dimension;
  const clamped = (value: number) => Math.min(high, Math.max(low, value));
  const between = (a: number, b: number) => a + index * (b - a);
  const logarithmic = (a: number, b: number) => Math.exp(between(Math.log(a), Math.log(b)));
  switch (kind) {
    case 'int':
      return clamped(Math.floor(between(low, high + 1)));
    case 'logint':
      return clamped(Math.floor(logarithmic(low, high + 1)));
    case 'log':
      return clamped(Number(logarithmic(low, high).toPrecision(digits)));
    case 'uniform':
      return clamped(Number(between(low, high).toPrecision(digits)));
  }
}

/** Settings of a trial as `--set` takes them; texts without quotes if YAML reads them the same. */
export function overridesOf(set: Readonly<Record<string, unknown>>): string[] {
  return Object.entries(set).map(([key, value]) => {
    const plain = parseOverride(`${key}=${String(value)}`);
    return 'value' in plain && plain.value === value ? `${key}=${String(value)}` : `${key}=${JSON.stringify(value)}`;
  });
}

/**
 * Validates every value, and every range at its ends and inside, with the schema of the settings.
 * @param preset with the `overrides` of every trial
 * @throws WorkbenchError `config` that lists all problems, as `--set` would; `usage` for a missing preset
 */
export function checkSpace(dimensions: readonly Dimension[], preset: string, overrides: readonly string[]): void {
  const problems = new Set<string>();
  let hint: string | undefined;
  for (const dimension of dimensions) {
    const { key, kind } = dimension;
    // A range that a setting of whole numbers does not take is seen inside it, not at its ends.
    const inside = 0.381966;
    const tried = isRange(dimension) ? [dimension.low, dimension.high, valueAt(dimension, inside)] : dimension.values;
    for (const value of tried) {
      try {
        loadPreset(preset, [...overrides, ...overridesOf({ [key]: value })]);
      } catch (error) {
        if (!(error instanceof WorkbenchError) || error.code !== 'config') throw error;
        problems.add(error.message.replaceAll(`--set ${key}`, `--${kind === 'grid' ? 'grid' : 'sample'} ${key}`));
        hint = error.hint;
        break;
      }
    }
  }
  if (problems.size === 0) return;
  const list = [...problems];
  const message =
    list.length === 1 ? list[0]! : `${list.length} problems:\n${list.map((one) => `  ${one}`).join('\n')}`;
  throw new WorkbenchError('config', message, { hint });
}

type Grid = Extract<Dimension, { kind: 'grid' }>;
type Drawn = Exclude<Dimension, Grid>;

/** Inputs of the samples. */
export type Draws = Pick<SweepRecord, 'dimensions' | 'seed'>;

const grids = ({ dimensions }: Pick<Draws, 'dimensions'>) =>
  dimensions.filter((one): one is Grid => one.kind === 'grid');
const drawn = ({ dimensions }: Pick<Draws, 'dimensions'>) =>
  dimensions.filter((one): one is Drawn => one.kind !== 'grid');

/** Points of the grid: the product of its values; 1 without a grid. */
function gridPoints(space: Pick<Draws, 'dimensions'>): number {
  return grids(space).reduce((product, { values }) => product * values.length, 1);
}

/**
 * How many trials a sweep has.
 * @param asked `--trials`, of the whole sweep: grid points take turns, each with its own samples
 * @throws WorkbenchError `usage` where ranges are given and no number, or a number that leaves out points of the grid
 */
export function trialCount(space: Draws, asked: number | undefined): number {
  const points = gridPoints(space);
  const ranges = drawn(space);
  if (ranges.length === 0) {
    if (asked === undefined || asked === points) return points;
    throw new WorkbenchError('usage', `expected ${points} trials, one a point of the grid, got ${asked}, at --trials`, {
      hint: 'Leave --trials out, or draw some of the keys by --sample.',
    });
  }
  if (asked === undefined) {
    throw new WorkbenchError('usage', 'expected --trials with --sample, got none', { hint: 'Such as --trials 20.' });
  }
  if (asked >= points) return asked;
  throw new WorkbenchError(
    'usage',
    `expected at least ${points} trials, one a point of the grid, got ${asked}, at --trials`,
  );
}

/** Settings of trial number `trial`, from 1. The first trials of a longer sweep are those of a shorter one. */
export function trialSettings(space: Draws, trial: number): Record<string, unknown> {
  const place = (key: string) => Rng.named(space.seed, `sweep/${key}`, trial).uniform();
  return Object.fromEntries([
    ...gridValues(grids(space), (trial - 1) % gridPoints(space)),
    ...drawn(space).map((dimension) => [dimension.key, valueAt(dimension, place(dimension.key))]),
  ]) as Record<string, unknown>;
}

/** The values of a point; those of the last key change first. */
function gridValues(keys: readonly Grid[], point: number): [string, unknown][] {
  let rest = point;
  const found = [...keys].reverse().map(({ key, values }): [string, unknown] => {
    const value = values[rest % values.length];
    rest = Math.floor(rest / values.length);
    return [key, value];
  });
  return found.reverse();
}
