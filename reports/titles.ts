/** Words of both pages, the report and the live one: titles of sections, phases and curves. It reads nothing and runs in browsers, too. */

/** Titles of sections, and of the views of the live page. */
export const sectionTitles = {
  results: 'Results',
  curves: 'Learning curves',
  examples: 'Worked examples',
  differing: 'What differs in the settings',
} as const;

/** Caption of worked examples. */
export const examplesCaption =
  'Drawn by seed, the same for every agent. Each tree is what an agent ranked first, strokes as wide as their probability: the full line is the walk that it took, red where it is wrong; green is what is right, dashed where it was not taken; grey is what it left. Stays are left out.';

/** Phases of training in order: the name within a sentence, and the unit of a step. */
export const phaseWords: Readonly<Record<string, { name: string; steps: string }>> = {
  transe: { name: 'TransE', steps: 'epochs over the graph' },
  bilinear: { name: 'bilinear embeddings', steps: 'epochs over the graph' },
  encode: { name: 'text vectors', steps: 'steps' },
  clone: { name: 'cloning', steps: 'updates' },
  fit: { name: 'fitting', steps: 'steps' },
  ppo: { name: 'PPO', steps: 'updates' },
};

/** The name of a phase within a sentence. @param algorithms of the runs that have it: the phase `ppo` is named after them */
export function phaseName(phase: string, algorithms: readonly string[] = []): string {
  if (phase === 'ppo' && algorithms.length > 0) return [...new Set(algorithms)].sort().join(' and ');
  return phaseWords[phase]?.name ?? phase;
}

/** Heading of the curves of a phase. @param dataset shown where there are several */
export const phaseHeading = (phase: string, dataset: string | undefined): string =>
  `${phase}${dataset === undefined ? '' : ` on ${dataset}`}`;

/** Title of a chart of one phase. @param phase name of it @param measure see `measureOf` */
export const curveTitle = (phase: string, measure: string): string => `${phase}: ${measure}`;

/** Name and unit of a figure, see `src/run/figures.ts`. */
export type Declared = Readonly<Record<'key' | 'title' | 'unit', string>>;

const titles: Readonly<Record<string, string>> = {
  'rollout/reward': 'mean reward of a walk',
  'train/loss': 'loss on train',
  'rollout/hit_rate': 'walks that end on the answer, %',
};

/** Axis title such as `path@1 on valid, %`, and the unit: `%` for fractions shown as percent. */
export function measureOf(
  key: string,
  figures: readonly Declared[],
  values: readonly number[],
): { title: string; unit: string } {
  const [kind, ...rest] = key.split('/');
  const declared = kind === 'eval' ? figures.find((one) => one.key === rest.join('/')) : undefined;
  const unit = declared?.unit ?? (isShare(key, values) ? '%' : '');
  const name = declared?.title ?? rest.join('/').replaceAll('_', ' ');
  const title = titles[key] ?? `${name}${kind === 'eval' ? ' on valid' : ''}${unit === '%' ? ', %' : ''}`;
  return { title, unit };
}

function isShare(key: string, values: readonly number[]): boolean {
  if (/(rate|fraction|accuracy)$/.test(key)) return !key.endsWith('learning_rate');
  return key.startsWith('eval/') && !key.endsWith('loss') && values.every((value) => value >= 0 && value <= 1);
}
