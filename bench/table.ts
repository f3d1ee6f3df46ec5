/** The table of a bench: medians of both sides, and the median of their ratios round by round. */
import { comparisons, type Comparison, type Figure } from './comparisons.js';

/** A line that a program printed, with when. */
export interface Line {
  program: string;
  round: number;
  system: string;
  task: string;
  settings: Record<string, unknown>;
  rate: number;
  unit: string;
  cpu_seconds: number;
  rate_per_cpu_second?: number;
  quality?: Record<string, unknown>;
}

/** A row of the table; numbers are absent where a side was not measured. */
export interface Row {
  title: string;
  ours: string;
  peer: string;
  unit: string;
  /** Medians over the rounds, per CPU second. */
  oursFigure: number | undefined;
  peerFigure: number | undefined;
  /** Medians of ours / peer within a round: by CPU time, and by the clock. */
  ratio: number | undefined;
  wallRatio: number | undefined;
  rounds: number;
  target: number | undefined;
  /** Returns whether the ratio by CPU time meets the target. */
  met: boolean | undefined;
}

/** @param lines of all rounds */
export function tableOf(lines: readonly Line[]): Row[] {
  return comparisons.map((comparison) => {
    const { title, ours, peer, target, by } = comparison;
    const [a, b] = [ours, peer].map((figure) => byRound(lines, figure));
    const both = [...a!.keys()].filter((round) => b!.has(round));
    const ratio = median(both.map((round) => cpuFigure(a!.get(round)!, by) / cpuFigure(b!.get(round)!, by)));
    const wallRatio = median(both.map((round) => a!.get(round)!.rate / b!.get(round)!.rate));
    const unit = [...a!.values(), ...b!.values()][0]?.unit ?? '';
    return {
      title,
      ours: ours.label,
      peer: peer.label,
      unit,
      oursFigure: median([...a!.values()].map((line) => cpuFigure(line, by))),
      peerFigure: median([...b!.values()].map((line) => cpuFigure(line, by))),
      ratio,
      wallRatio,
      rounds: both.length,
      target,
      met: ratio === undefined || target === undefined ? undefined : by === 'rate' ? ratio >= target : ratio <= target,
    };
  });
}

/** The table as Markdown. */
export function markdown(rows: readonly Row[]): string {
  const head = ['task', 'ours', 'peer', 'unit', 'ours', 'peer', 'ratio', 'ratio, clock', 'target', ''];
  const cells = rows.map((row) => [
    row.title,
    row.ours,
    row.peer,
    row.unit,
    figure(row.oursFigure),
    figure(row.peerFigure),
    figure(row.ratio),
    figure(row.wallRatio),
    row.target === undefined ? '' : String(row.target),
    row.met === undefined ? '' : row.met ? 'met' : 'short',
  ]);
  return [head, head.map(() => '---'), ...cells].map((line) => `| ${line.join(' | ')} |`).join('\n');
}

/** Figures without a comparison, line by line, as Markdown: quality reached, scale. */
export function others(lines: readonly Line[]): string {
  const compared = new Set(comparisons.flatMap(({ ours, peer }) => [ours, peer]).map(({ program }) => program));
  const pairs = (of: Record<string, unknown> = {}) =>
    Object.entries(of)
      // Curves are drawn by policy-curves.ts.
      .filter(([key]) => key !== 'curve')
      .map(([key, value]) => `${key} ${String(value)}`)
      .join(', ');
  const cells = lines
    .filter(({ program }) => !compared.has(program))
    .map((line) => [
      line.task,
      line.system,
      pairs(line.settings),
      figure(line.rate_per_cpu_second ?? line.rate),
      line.unit,
      figure(line.cpu_seconds),
      pairs(line.quality),
    ]);
  const head = ['task', 'system', 'settings', 'per CPU second', 'unit', 'CPU s', 'result'];
  return [head, head.map(() => '---'), ...cells].map((line) => `| ${line.join(' | ')} |`).join('\n');
}

function byRound(lines: readonly Line[], { program, task, where = {}, system }: Figure): Map<number, Line> {
  const fitting = lines.filter(
    (line) =>
      line.program === program &&
      line.task === task &&
      (system === undefined || line.system.includes(system)) &&
      Object.entries(where).every(([key, value]) => line.settings[key] === value),
  );
  return new Map(fitting.map((line) => [line.round, line]));
}

function cpuFigure(line: Line, by: Comparison['by']): number {
  if (by === 'cpu_seconds') return line.cpu_seconds;
  if (by === 'cpu_ms') return Number(line.quality?.cpu_ms);
  return line.rate_per_cpu_second ?? line.rate;
}

function median(values: readonly number[]): number | undefined {
  const sorted = [...values].sort((a, b) => a - b);
  if (sorted.length === 0) return undefined;
  const middle = (sorted.length - 1) / 2;
  return (sorted[Math.floor(middle)]! + sorted[Math.ceil(middle)]!) / 2;
}

function figure(value: number | undefined): string {
  if (value === undefined) return '–';
  return value >= 1000 ? Math.round(value).toLocaleString('en-US') : String(Number(value.toPrecision(3)));
}
