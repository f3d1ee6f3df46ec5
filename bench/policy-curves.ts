/**
 * Learning curves of PPO on the environments of known optimum, ours and the peers', from the lines of `npm run bench -- --long`:
 * a picture an environment, and a Markdown table of the environment steps after which a mean return was first reached.
 *
 *     node dist/bench/policy-curves.js [--lines bench-results/lines.jsonl] [--out DIR]
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { pngOf } from '../reports/pictures.js';
import { palette } from '../reports/plots/colors.js';
import type { Line } from './table.js';

const { values } = parseArgs({
  options: {
    lines: { type: 'string', default: 'bench-results/lines.jsonl' },
    out: { type: 'string', default: '.' },
  },
});

type Curve = readonly (readonly [steps: number, mean: number])[];

/** Threshold of learning: within 2 % of the best there is, or the standard's own bar. */
const environments = [
  { env: 'cart-pole', title: 'CartPole-v1', optimum: 500, learned: 475 },
  { env: 'grid', title: 'Grid 5 × 5', optimum: 0.86, learned: 0.86 },
  { env: 'masked-bandit', title: 'Masked bandit', optimum: 8.9, learned: 8.72 },
];
const systems = [
  { name: 'kgwalk', begins: 'kgwalk' },
  { name: 'SB3', begins: 'SB3' },
  { name: 'sbx', begins: 'sbx' },
];

const lines = readFileSync(values.lines, 'utf8')
  .split('\n')
  .filter(Boolean)
  .map((line) => JSON.parse(line) as Line)
  .filter(({ task, quality }) => task === 'classic-ppo' && quality?.curve !== undefined);

const overSeeds = (curves: readonly Curve[], of: (means: number[]) => number) =>
  curves[0]!.map((_, at) => of(curves.map((curve) => curve[at]![1])));
const rows: string[][] = [];
for (const { env, title, optimum, learned } of environments) {
  const found = systems.flatMap(({ name, begins }, i) => {
    const own = lines.filter(({ system, settings }) => settings.env === env && system.startsWith(begins));
    // A seed that was run again counts once, as it was last.
    const bySeed = new Map(own.map(({ quality }) => [quality!.seed, quality!]));
    const runs = [...bySeed.values()];
    return runs.length === 0 ? [] : [{ name, color: palette[i]!, runs }];
  });
  const curves = found.map(({ runs }) => runs.map(({ curve }) => (curve as Curve).filter(([steps]) => steps > 0)));
  const plot = {
    kind: 'lines' as const,
    title: `${title}: mean return of 100 greedy episodes`,
    unit: '',
    axes: ['environment steps'],
    lines: found.map(({ name, color }, i) => ({
      ...{ label: name, color },
      x: [curves[i]![0]!.map(([steps]) => steps)],
      // One course with a band from the lowest seed to the highest: three are too few for an interval that keeps within what can be.
      seeds: [overSeeds(curves[i]!, (means) => means.reduce((sum, one) => sum + one / means.length, 0))],
      low: overSeeds(curves[i]!, (means) => Math.min(...means)),
      high: overSeeds(curves[i]!, (means) => Math.max(...means)),
    })),
    levels: [{ label: 'optimum', value: optimum }],
  };
  writeFileSync(join(values.out, `policy-${env}.png`), await pngOf(plot));
  found.forEach(({ name, runs }, i) => {
    const first = curves[i]!.map((curve) => curve.find(([, mean]) => mean >= learned - 1e-6)?.[0]);
    const reached = runs.map((run) => Number(run.return).toPrecision(3));
    rows.push([
      title,
      name,
      ...[first.map((steps) => steps?.toLocaleString('en-US') ?? 'not').join(', ')],
      reached.join(', '),
    ]);
  });
}
const head = ['environment', 'system', 'steps to learn it, by seed', 'return at the end, by seed'];
console.log([head, head.map(() => '---'), ...rows].map((row) => `| ${row.join(' | ')} |`).join('\n'));
