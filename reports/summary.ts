/** The result of a report in one sentence, and what must stand beside it. */
import { edgeReservations } from './edge-lists.js';
import { figureNames } from './figure-names.js';
import { figureOf, mainLinkRow, titleOfLinks, type LinkSet } from './link-results.js';
import { directionNames } from './link-tables.js';
import { percent, plain } from './numbers.js';
import type { QuestionResult, QuestionSet } from './question-results.js';
import type { Figure, ResultRow, ResultSet } from './results.js';
import { mainMetric, mainRow } from './results.js';
import type { RunGroup } from './run-data.js';

/** Who found how many walks, with sample size, seeds and interval, and the distance to the strongest baseline. */
export function walkResult(set: ResultSet): string | undefined {
  const main = mainRow(set);
  const figure = main?.metrics[mainMetric];
  if (!main || !figure) return undefined;
  const target = main.metrics['target@1'];
  const baseline = set.rows.find((row) => !row.own && row !== main);
  return [
    `On the ${set.split} split of ${set.dataset} (${plain(set.n)} samples), ${main.label} puts the right path first for ${percent(figure.value)}\u00a0% (${evidence(main, figure)})`,
    target && ` and the right target for ${percent(target.value)}\u00a0%`,
    baseline && comparison(figure, baseline),
  ]
    .filter(Boolean)
    .join('');
}

/** Who is best on a set of questions, with sample size, interval and cost, and who comes next. */
export function questionResult(set: QuestionSet): string {
  const { n, dataset, labels, subsets, split, main, rows, simulated, model } = set;
  const shown = ({ metrics }: QuestionResult) => percent(metrics[main]?.value ?? 0);
  const [first] = rows;
  const best = rows.filter((row) => shown(row) === shown(first!));
  const next = rows[best.length];
  const walker = rows.slice(best.length + 1).find(({ own }) => own);
  const marks = labels.length > 0 ? ` (${labels.join(', ')})` : '';
  const simulation = simulated ? `, simulated by ${model}, which knows the gold` : '';
  const highest =
    rows.length > 1 ? `the highest ${figureNames[main]} of ${rows.length} agents,` : `a ${figureNames[main]} of`;
  const who = listed(best.map((row) => `${row.label} ${costOf(row)}`));
  return [
    `on ${plain(n)} questions of ${dataset}${marks}, ${subsets.join(' + ')}, ${split}${simulation}, ${who} ${best.length > 1 ? 'have' : 'has'} ${highest} ${shown(first!)}\u00a0% (${evidence(first!, first!.metrics[main])})`,
    next && `, before ${next.label} ${costOf(next)} and ${shown(next)}\u00a0%`,
    walker && !best.some(({ own }) => own) && !next!.own && `; ${walker.label} has ${shown(walker)}\u00a0%`,
  ]
    .filter(Boolean)
    .join('');
}

/** How well the trained walker ranks the answers of link queries, and the distance to the best that learns no walk. */
export function linkResult(set: LinkSet): string | undefined {
  const main = mainLinkRow(set);
  const figure = main && figureOf(main, set.main, 'mrr');
  if (!main || !figure) return undefined;
  const other = set.rows.find((row) => !row.own && row !== main);
  const otherFigure = other && figureOf(other, set.main, 'mrr');
  const first = figureOf(main, set.main, 'hits@1');
  return [
    `on ${titleOfLinks(set)} (${plain(set.n)} triples, ${directionNames[set.main]}), ${main.label} has an MRR of ${percent(figure.value)}\u00a0% (${evidence(main, figure)})`,
    first && ` and ranks the answer first for ${percent(first.value)}\u00a0%`,
    otherFigure && distance(figure, otherFigure, other.label),
  ]
    .filter(Boolean)
    .join('');
}

/** Without an evaluation, how to get one. */
export function nothingEvaluated(groups: readonly RunGroup[]): string {
  const { id } = groups[0]!.runs[0]!.info;
  return `Nothing was evaluated yet: run kgwalk evaluate ${id}, then kgwalk report ${id} again.`;
}

/** What bounds or qualifies the result. */
export function reservations({
  walks,
  groups = [],
  asked,
  linked,
}: {
  walks?: ResultSet | undefined;
  /** The runs that walk dialogues. */
  groups?: readonly RunGroup[];
  asked?: QuestionSet | undefined;
  linked?: LinkSet | undefined;
}): string[] {
  const record = walks && mainRow(walks)?.record;
  const bound = record?.coverage?.reachable;
  const within = record?.edges ? 'With these edges and this horizon' : 'With this graph and horizon';
  return [
    ...(bound !== undefined && bound < 0.9995 ? [`${within} no walk can exceed ${percent(bound)}\u00a0%.`] : []),
    ...(walks && groups.length > 1
      ? [`The result is the highest of ${groups.length} settings, chosen by this very figure.`]
      : []),
    ...(walks ? edgeReservations(walks) : []),
    ...(linked ? linkReservations(linked) : []),
    ...(asked?.labels.includes('fixture')
      ? [
          'The graph of the questions is a fixture, collected partly from the gold answers: these are no benchmark results.',
        ]
      : []),
  ];
}

/** Where walks cannot lead, and a best of several settings. */
function linkReservations(set: LinkSet): string[] {
  const main = mainLinkRow(set);
  const bound = main?.directions[set.main]?.[`reachable@${main.record.horizon}`];
  const settings = new Set(set.rows.flatMap(({ own, group }) => (own && group !== undefined ? [group] : []))).size;
  return [
    ...(main?.own && bound && bound.value < 0.9995
      ? [`No walk of ${main.record.horizon} steps reaches more than ${percent(bound.value)}\u00a0% of the answers.`]
      : []),
    ...(settings > 1 ? [`The result is the highest of ${settings} settings, chosen by this very figure.`] : []),
  ];
}

/** `a, b and c`. */
export function listed(words: readonly string[]): string {
  return words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} and ${words.at(-1)}`;
}

function evidence({ seeds }: Pick<ResultRow, 'seeds'>, figure: Figure | undefined): string {
  const { low, high, deviation } = figure ?? { low: 0, high: 0 };
  const spread = deviation === undefined ? '' : `; mean of ${seeds} seeds, ± ${percent(deviation)} between them`;
  return `95\u00a0% interval ${percent(low)} to ${percent(high)}${spread}`;
}

function comparison({ value }: Figure, baseline: ResultRow): string | undefined {
  const other = baseline.metrics[mainMetric];
  return other && distance({ value }, other, `the strongest baseline, ${baseline.label}`);
}

function distance({ value }: Pick<Figure, 'value'>, other: Figure, who: string): string {
  const points = 100 * (value - other.value);
  const side = points >= 0 ? 'above' : 'below';
  return `, ${Math.abs(points).toFixed(1)} points ${side} ${who} (${percent(other.value)}\u00a0%)`;
}

function costOf({ model, metrics }: QuestionResult): string {
  return model === undefined
    ? 'without a language model'
    : `with ${metrics['calls.mean']!.value.toFixed(1)} calls a question`;
}
