/** The tables of `npm run bench:gpu`: a row a measurement, a column what computes; and why a column is empty. */
import { computers, sizes, type GpuProgram } from './gpu-programs.js';

/** Output of a program: lines of JSON, or why there are none. */
export interface GpuResult extends Pick<GpuProgram, 'task' | 'size' | 'computer'> {
  lines: readonly Record<string, unknown>[];
  /** Reason of a program that failed or was left out. */
  reason?: string;
}

interface Cell {
  title: string;
  computer: string;
  figure: number;
}

const titles = {
  'ppo-update': 'PPO update',
  'ppo-end-to-end': 'PPO, walks and updates, UMLS',
  'llm-ark': 'LLM-ARK, walks of two steps and updates',
  'llm-prompt': 'prompt',
  'llm-prefix-tail': 'after a kept prompt',
  'llm-embed': 'vectors of whole texts',
  'llm-embed-tail': 'vectors after a kept beginning, in blocks of 16',
} as const;

/**
 * Everything as Markdown: rates by the clock (more is better), milliseconds of a step by size of product (less is), what is missing.
 * @param results in the order in which they were measured
 */
export function gpuTables(results: readonly GpuResult[]): string {
  const rates = results
    .filter(({ task }) => task !== 'crossing')
    .flatMap(({ computer, size, lines }) =>
      lines.flatMap((line): Cell[] => {
        const title = titles[line.task as keyof typeof titles] as string | undefined;
        return title === undefined
          ? []
          : [
              {
                title: `${title}${of(size, line.settings)}, ${String(line.unit)}`,
                computer,
                figure: line.rate as number,
              },
            ];
      }),
    );
  const steps = crossingCells(results);
  const missing = missingOf(results);
  return [
    ...(rates.length > 0 ? [table('by the clock, more is better', rates)] : []),
    ...(steps.length > 0 ? [table('a training step, ms', steps)] : []),
    ...crossings(steps),
    ...(missing.length > 0 ? [`Not measured:\n\n${missing.map((line) => `- ${line}`).join('\n')}`] : []),
  ].join('\n\n');
}

/** Size and its numbers, after the title. */
function of(size: string | undefined, settings: unknown): string {
  const { state, hidden, batch, samples, tokens, prefix } = settings as Record<string, number | number[]>;
  if (tokens !== undefined)
    return `, ${String(tokens)} tokens${prefix === undefined ? '' : ` after ${String(prefix)}`}`;
  if (samples !== undefined) return ` (${String(state)} → ${String(hidden)}, ${String(samples)} samples an update)`;
  const units = Array.isArray(hidden)
    ? hidden.join(' × ')
    : `${String(state)} → ${String(hidden)}, minibatch ${String(batch)}`;
  return ` (${size}: ${units})`;
}

function crossingCells(results: readonly GpuResult[]): (Cell & { product: number })[] {
  return results
    .filter(({ task }) => task === 'crossing')
    .flatMap(({ computer, lines }) =>
      lines.map((line) => {
        const { width, batch, step_wall_ms: step } = line as unknown as Sized;
        const product = (width * width * batch) / 1e6;
        return {
          title: `${batch} × ${width} × ${width} (${figure(product)} million)`,
          computer,
          figure: step[computer]!,
          product,
        };
      }),
    )
    .sort((a, b) => a.product - b.product);
}

interface Sized {
  width: number;
  batch: number;
  step_wall_ms: Record<string, number>;
}

/** Product from which on every larger one was faster on the card, for each pair of backends of card and processor. */
function crossings(cells: readonly (Cell & { product: number })[]): string[] {
  const lines = ['webgpu', 'tensorflow-gpu'].flatMap((card) =>
    ['tensorflow', 'simd', 'wasm'].flatMap((other) => {
      const pairs = cells
        .filter(({ computer }) => computer === card)
        .flatMap((cell) => {
          const counterpart = cells.find(({ title, computer }) => title === cell.title && computer === other);
          return counterpart === undefined ? [] : [{ product: cell.product, ahead: cell.figure < counterpart.figure }];
        });
      if (pairs.length === 0) return [];
      const behind = pairs.findLast(({ ahead }) => !ahead);
      const first = pairs.find(({ product }) => behind === undefined || product > behind.product);
      return [
        first === undefined
          ? `- ${card} is behind ${other} at ${figure(behind!.product)} million multiply-adds, too.`
          : `- ${card} is ahead of ${other} from ${figure(first.product)} million multiply-adds on.`,
      ];
    }),
  );
  return lines.length > 0 ? [lines.join('\n')] : [];
}

/** A line per reason, with the programs and tasks that it stopped. */
function missingOf(results: readonly GpuResult[]): string[] {
  const whats = new Map<string, Set<string>>();
  for (const { computer, task, size, reason } of results) {
    if (reason === undefined) continue;
    const key = `${computer}: ${reason}`;
    whats.set(key, (whats.get(key) ?? new Set()).add(size === undefined ? task : `${task} (${size})`));
  }
  const every = sizes.length;
  return [...whats].map(([key, of]) => (of.size >= every ? key : `${key} [${[...of].join(', ')}]`));
}

function table(head: string, cells: readonly Cell[]): string {
  const columns = computers.filter((name) => cells.some(({ computer }) => computer === name));
  const rows = [...new Set(cells.map(({ title }) => title))].map((title) => [
    title,
    ...columns.map((name) => {
      const cell = cells.find((one) => one.title === title && one.computer === name);
      return cell === undefined ? '–' : figure(cell.figure);
    }),
  ]);
  const lines = [[head, ...columns], ['---', ...columns.map(() => '---:')], ...rows];
  return lines.map((line) => `| ${line.join(' | ')} |`).join('\n');
}

function figure(value: number): string {
  return value >= 1000 ? Math.round(value).toLocaleString('en-US') : String(Number(value.toPrecision(3)));
}
