/** The head of the page: its title, what was done, what came of it, and on what. */
import { basename } from 'node:path';
import { phases } from '../src/run/records.js';
import { phaseTitle } from './curves.js';
import type { Fact, PageView } from './html.js';
import { figureOf, mainLinkRow, titleOfLinks, type LinkSet } from './link-results.js';
import { directionNames } from './link-tables.js';
import type { QuestionResult, QuestionSet } from './question-results.js';
import { questionFacts } from './question-tables.js';
import { mainMetric, mainRow, type ResultRow, type ResultSet } from './results.js';
import { encoderOf, seedOf, type RunGroup, type RunKind } from './run-data.js';
import { largest, meanOf, takenUpTo, type Figure } from './series.js';
import { edgeReservations } from './tables.js';
import { duration, figureNames, listed, percent, plain } from './words.js';

/** What a page is about: runs by kind, and what they and others were evaluated on. */
interface Found {
  groups: Readonly<Record<RunKind, readonly RunGroup[]>>;
  walked: readonly ResultSet[];
  asked: readonly QuestionSet[];
  linked: readonly LinkSet[];
}

/** The first words of the page. */
export function openingOf({
  groups,
  walked,
  asked,
  linked,
}: Found): Pick<PageView, 'done' | 'result' | 'reservations'> {
  const all = Object.values(groups).flat();
  const [walks, questions, links] = [walked[0], asked[0], linked[0]];
  const found = [
    ...(walks ? [walkResult(walks) ?? []].flat() : []),
    ...(questions ? [questionResult(questions)] : []),
    ...(links ? [linkResult(links) ?? []].flat() : []),
  ].join('; ');
  const result = found === '' ? nothingEvaluated(all) : `${found}.`;
  return {
    done: [
      ...(groups.dialogues.length > 0 ? [trainedOnDialogues(groups.dialogues, walks)] : []),
      ...(groups.questions.length > 0 || questions ? [askedQuestions(groups.questions, questions)] : []),
      ...(groups.links.length > 0 || links ? [answeredLinks(groups.links, links)] : []),
    ].join(' '),
    result: result[0]!.toUpperCase() + result.slice(1),
    reservations: reservations({ walks, groups: groups.dialogues, asked: questions, linked: links }).join(' '),
  };
}

const subjects: Readonly<Record<RunKind, string>> = {
  dialogues: 'walks on',
  questions: 'questions on',
  links: 'link queries on',
};

/** What the page is about, in a few words. */
export function titleOfPage({ groups, walked, asked, linked }: Found): string {
  const datasets: Readonly<Record<RunKind, string>> = {
    dialogues: datasetsOf(walked),
    questions: datasetsOf(asked),
    links: datasetsOf(linked),
  };
  const kinds = (Object.keys(subjects) as RunKind[]).filter(
    (kind) => groups[kind].length > 0 || (kind !== 'dialogues' && datasets[kind] !== ''),
  );
  if (kinds.length > 1) {
    const title = kinds.map((kind) => `${subjects[kind]} ${datasets[kind] || nameOf(groups[kind])}`).join(', ');
    return title[0]!.toUpperCase() + title.slice(1);
  }
  const all = Object.values(groups).flat();
  if (all.length > 1) return `${all.length} settings compared`;
  if (all.length === 1) return all[0]!.label;
  const agents = [...new Set([...asked, ...linked].flatMap(({ rows }) => rows.map(({ label }) => label)))];
  const sets = datasets.questions || datasets.links;
  return agents.length > 1 ? `${agents.length} agents on ${sets}` : `${agents[0]!} on ${sets}`;
}

const datasetsOf = (sets: readonly { dataset: string }[]) =>
  [...new Set(sets.map(({ dataset }) => dataset))].join(', ');

function nameOf(groups: readonly RunGroup[]): string {
  return groups.length > 1 ? `${groups.length} settings` : groups[0]!.label;
}

/** On what, below the first words. */
export function factsOf({ groups, walked, asked, linked }: Found): Fact[] {
  const runs = Object.values(groups).flatMap((some) => some.flatMap(({ runs: members }) => members));
  const facts = [
    ...(runs.length > 0
      ? [
          { name: 'runs', value: plain(runs.length) },
          { name: 'seeds', value: [...new Set(runs.map(seedOf))].sort((a, b) => Number(a) - Number(b)).join(', ') },
        ]
      : []),
  ];
  const [walks, questions, links] = [walked[0], asked[0], linked[0]];
  if (walks) return [...walkFacts(walks), ...facts];
  return [...facts, ...(questions ? questionFacts(questions) : links ? queryFacts(links) : [])];
}

function walkFacts({ dataset, graph, split, turns, n, rows }: ResultSet): Fact[] {
  return [
    { name: 'data set', value: dataset },
    { name: 'graph', value: graph },
    { name: 'split', value: split },
    { name: 'turns', value: turns },
    { name: 'samples', value: plain(n) },
    { name: 'beam', value: plain(rows[0]!.record.beamWidth) },
  ];
}

function queryFacts({ dataset, split, n, rows }: LinkSet): Fact[] {
  const walker = rows.find(({ own }) => own)?.record;
  return [
    { name: 'data set', value: dataset },
    { name: 'split', value: split },
    { name: 'triples', value: plain(n) },
    ...(walker?.horizon === undefined ? [] : [{ name: 'steps of a walk', value: plain(walker.horizon) }]),
    ...(walker?.beamWidth === undefined ? [] : [{ name: 'beam', value: plain(walker.beamWidth) }]),
  ];
}

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

/** How walkers were trained on dialogues, and beside whom they were evaluated. */
function trainedOnDialogues(groups: readonly RunGroup[], set: ResultSet | undefined): string {
  const { dataset, graph } = dataOf(groups);
  const others = (set?.rows ?? []).filter(({ own }) => !own).map(({ label }) => label);
  const evaluated = set
    ? `, then evaluated on the ${set.split} split${others.length > 0 ? ` beside ${listed(others)}` : ''}`
    : '';
  return `On the dialogues of ${dataset} (graph ${graph}), ${training(groups)}${evaluated}.`;
}

/** How walkers were trained on questions, and who else was asked what. */
function askedQuestions(groups: readonly RunGroup[], set: QuestionSet | undefined): string {
  const trained = groups.length > 0 ? `On the questions of ${dataOf(groups).dataset}, ${training(groups)}` : '';
  if (!set) return `${trained}.`;
  const asks = set.rows.filter(({ model }) => model !== undefined);
  const free = set.rows.filter(({ own, model }) => !own && model === undefined);
  const models = [...new Set(asks.map(({ model }) => model!))].map((model) => basename(model));
  const who = [
    ...(free.length > 0 ? [listed(free.map(({ label }) => label))] : []),
    ...(asks.length > 0
      ? [`${listed(asks.map(({ label }) => label))}, which ask${asks.length > 1 ? '' : 's'} ${listed(models)}`]
      : []),
  ].join(', and ');
  const asked = `${plain(set.n)} questions of its ${set.split} split (${listed(set.subsets)})`;
  if (trained === '') return `On ${set.dataset}, ${asked} were put to ${who}.`;
  return `${trained}, then asked ${asked}${who === '' ? '' : ` beside ${who}`}.`;
}

/** How walkers were trained to answer link queries, and beside whom they were evaluated. */
function answeredLinks(groups: readonly RunGroup[], set: LinkSet | undefined): string {
  const trained = groups.length > 0 ? `On the triples of ${dataOf(groups).dataset}, ${training(groups)}` : '';
  if (!set) return `${trained}.`;
  const others = set.rows.filter(({ own }) => !own).map(({ label }) => label);
  if (trained === '')
    return `The queries of ${titleOfLinks(set)} were put to ${listed(set.rows.map(({ label }) => label))}.`;
  return `${trained}, then evaluated on ${titleOfLinks(set)}${others.length > 0 ? ` beside ${listed(others)}` : ''}.`;
}

/** `a walker over a frozen encoder (x.gguf) was trained by cloning and PPO (3 seeds, 12 min and 300,000 environment steps each)`. */
function training(groups: readonly RunGroup[]): string {
  const runs = groups.flatMap((group) => group.runs);
  const logged = new Set(runs.flatMap(({ metrics }) => metrics.map(({ phase }) => phase)));
  const by = phases
    .filter((phase) => logged.has(phase) && phase !== 'encode')
    .map((phase) => phaseTitle(phase, groups));
  const model = encoderOf(runs[0]!);
  const over = model !== undefined ? ` over the frozen model ${basename(model)}` : '';
  const seeds = new Set(runs.map(seedOf)).size;
  const seconds = meanOf(runs.map(({ timings }) => timings.reduce((sum, { seconds: lap }) => sum + lap, 0)));
  const steps = takenUpTo(
    runs.map(({ timings }) => timings),
    'ppo',
    'time/env_steps',
  );
  const each = [
    ...(seconds > 0 ? [duration(seconds)] : []),
    ...(steps ? [`${plain(Math.round(largest(steps.values())))} environment steps`] : []),
  ];
  const details = [
    ...(groups.length > 1 ? [`${groups.length} settings`] : []),
    `${seeds} ${seeds === 1 ? 'seed' : 'seeds'}`,
    ...(each.length > 0 ? [`${each.join(' and ')}${runs.length > 1 ? ' each' : ''}`] : []),
  ];
  const learned = by.length > 0 ? ` by ${listed(by)}` : '';
  return `a walker${over} was trained${learned} (${details.join(', ')})`;
}

function dataOf([first]: readonly RunGroup[]): { dataset: string; graph: string } {
  const { dataset, graph } = (first!.runs[0]!.info.config.data ?? {}) as { dataset?: unknown; graph?: unknown };
  return { dataset: String(dataset ?? 'a data set'), graph: String(graph ?? 'unnamed') };
}
