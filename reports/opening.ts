/** The head of the page: its title, what was done, what came of it, what must be known beside it, and on what. */
import { basename } from 'node:path';
import { numberText, type Estimate } from '../src/run/figures.js';
import { phases } from '../src/run/records.js';
import { phaseTitle } from './curves.js';
import type { Fact, PageView } from './html.js';
import { edgeReservations } from './llm-ark.js';
import { boundOf, mainRow, type ResultRow, type ResultSet } from './results.js';
import { encoderOf, seedOf, type RunGroup, type Subject } from './run-data.js';
import { meanOf } from './plots/smoothing.js';
import { largest, takenUpTo } from './series.js';
import { askedFacts } from './tables.js';
import { duration, listed, plain } from './words.js';

/** The first set of each data set and task, in the order of the sets: what the page is about. */
export function firstSets(sets: readonly ResultSet[]): ResultSet[] {
  const keyOf = ({ about: { task, dataset } }: ResultSet) => JSON.stringify([task, dataset]);
  return sets.filter((set, i) => sets.findIndex((one) => keyOf(one) === keyOf(set)) === i);
}

/** The first words of the page. */
export function openingOf(
  subjects: readonly Subject[],
  sets: readonly ResultSet[],
): Pick<PageView, 'done' | 'result' | 'reservations'> {
  const firsts = firstSets(sets);
  const groups = subjects.flatMap((subject) => subject.groups);
  const result = firsts.length === 0 ? nothingEvaluated(groups) : `${firsts.map(resultOf).join('; ')}.`;
  const untrained = firsts.filter(({ about }) => !subjects.some(({ dataset }) => dataset === about.dataset));
  const done = [
    ...subjects.map((subject) => trainedOn(subject, firsts)),
    ...untrained.map((set) => `The ${whatOf(set)} were put to ${agentsOf(set.rows)}.`),
  ];
  return {
    done: done.join(' '),
    result: result[0]!.toUpperCase() + result.slice(1),
    reservations: [...new Set(firsts.flatMap(reservationsOf))].join(' '),
  };
}

/** What the page is about, in a few words. */
export function titleOfPage(subjects: readonly Subject[], sets: readonly ResultSet[]): string {
  const groups = subjects.flatMap((subject) => subject.groups);
  const datasets = [...new Set([...subjects.map(({ dataset }) => dataset), ...sets.map(({ about }) => about.dataset)])];
  if (groups.length > 0 && datasets.length > 1) return `Walks on ${listed(datasets)}`;
  if (groups.length > 1) return `${groups.length} settings compared`;
  if (groups.length === 1) return groups[0]!.label;
  const agents = [...new Set(sets.flatMap(({ rows }) => rows.map(({ label }) => label)))];
  return `${agents.length > 1 ? `${agents.length} agents` : agents[0]!} on ${listed(datasets)}`;
}

/** On what, below the first words. */
export function factsOf(subjects: readonly Subject[], [first]: readonly ResultSet[]): Fact[] {
  const runs = subjects.flatMap(({ groups }) => groups.flatMap((group) => group.runs));
  const seeds = [...new Set(runs.map(seedOf))].sort((a, b) => Number(a) - Number(b));
  return [
    ...(first ? askedFacts(first) : []),
    ...(runs.length > 0
      ? [
          { name: 'runs', value: plain(runs.length) },
          { name: 'seeds', value: seeds.join(', ') },
        ]
      : []),
  ];
}

/** Without an evaluation, how to get one. */
export function nothingEvaluated(groups: readonly RunGroup[]): string {
  const { id } = groups[0]!.runs[0]!.info;
  return `Nothing was evaluated yet: run kgwalk evaluate ${id}, then kgwalk report ${id} again.`;
}

/**
 * Of a trained agent how well it does, with sample size, seeds and interval, and the distance to the best of the others; of
 * untrained ones who is best, with calls, and who comes next.
 */
export function resultOf(set: ResultSet): string {
  const { main, rows } = set;
  const row = mainRow(set);
  const on = `on the ${whatOf(set)}, ${row.own ? '' : 'of '}`;
  if (!row.own) return `${on.slice(0, -3)}${bestOf(set)}`;
  const other = rows.find((one) => !one.own && one.metrics[main.key]);
  const points = other && 100 * (valueOf(row, set) - valueOf(other, set));
  const away =
    main.unit === '%'
      ? `${Math.abs(points ?? 0).toFixed(1)} points`
      : numberText(Math.abs(points ?? 0) / 100, main.unit);
  const distance =
    other && `, ${away} ${points! >= 0 ? 'above' : 'below'} ${other.label} (${text(valueOf(other, set), set)})`;
  return `${on}${row.label} has ${article(main.title)} ${main.title} of ${text(valueOf(row, set), set)} (${evidenceOf(row, set)})${distance ?? ''}`;
}

function bestOf(set: ResultSet): string {
  const { main, rows } = set;
  const shown = (row: ResultRow) => text(valueOf(row, set), set);
  const best = rows.filter((row) => shown(row) === shown(rows[0]!));
  const next = rows[best.length];
  const who = listed(best.map((row) => row.label + costOf(row)));
  const has = best.length > 1 ? 'have' : 'has';
  const what =
    rows.length > 1 ? `the best ${main.title} of ${rows.length} agents` : `${article(main.title)} ${main.title}`;
  const second = next ? `, before ${next.label}${costOf(next)} and ${shown(next)}` : '';
  return `${who} ${has} ${what}, ${shown(rows[0]!)} (${evidenceOf(rows[0]!, set)})${second}`;
}

const article = (word: string) => (/^([AEFHILMNORSX](?![a-z])|[aeiou])/.test(word) ? 'an' : 'a');

const valueOf = ({ metrics }: ResultRow, { main }: ResultSet) => metrics[main.key]?.value ?? 0;

const text = (value: number, { main: { unit } }: ResultSet) =>
  `${numberText(value, unit)}${unit === '%' ? '\u00a0%' : ''}`;

function costOf({ model, cost: { calls } }: ResultRow): string {
  return model === undefined ? '' : ` with ${(calls?.mean ?? 0).toFixed(1)} calls a sample`;
}

/** `661 samples of umls, test`. */
function whatOf({ title, about: { n } }: ResultSet): string {
  return `${plain(n)} samples of ${title}`;
}

function evidenceOf({ seeds, metrics }: ResultRow, set: ResultSet): string {
  const none: Estimate & { deviation?: number } = { value: 0, low: 0, high: 0, n: 0 };
  const { low, high, deviation } = metrics[set.main.key] ?? none;
  const of = (value: number) => numberText(value, set.main.unit);
  const spread = deviation === undefined ? '' : `; mean of ${seeds} seeds, ± ${of(deviation)} between them`;
  return `95\u00a0% interval ${of(low)} to ${of(high)}${spread}`;
}

/** What bounds or qualifies the result. */
export function reservationsOf(set: ResultSet): string[] {
  const { main, rows, labels } = set;
  const bound = boundOf(set, main.key);
  const settings = new Set(rows.flatMap(({ own, group }) => (own && group !== undefined ? [group] : []))).size;
  return [
    ...(bound === undefined ? [] : [`On ${set.title}, walks reach at most ${text(bound, set)}.`]),
    ...(settings > 1 ? [`The result is the best of ${settings} settings, chosen by this very figure.`] : []),
    ...edgeReservations(set),
    ...(labels.includes('fixture')
      ? ['The graph is a fixture, collected partly from the gold answers: these are no benchmark results.']
      : []),
  ];
}

/** How agents were trained on one data set, and beside whom they were evaluated. */
function trainedOn({ dataset, groups }: Subject, sets: readonly ResultSet[]): string {
  const set = sets.find(({ about }) => about.dataset === dataset);
  const others = set?.rows.filter(({ own }) => !own) ?? [];
  const beside = others.length > 0 ? ` beside ${agentsOf(others)}` : '';
  return `On ${dataset}, ${training(groups)}${set ? `, then evaluated on ${whatOf(set)}${beside}` : ''}.`;
}

/** `a, b and c, which ask small.gguf`. */
function agentsOf(rows: readonly ResultRow[]): string {
  const asks = rows.filter(({ model }) => model !== undefined);
  const free = rows.filter(({ model }) => model === undefined);
  const models = [...new Set(asks.map(({ model }) => basename(model!)))];
  const names = (some: readonly ResultRow[]) => listed(some.map(({ label }) => label));
  return [
    ...(free.length > 0 ? [names(free)] : []),
    ...(asks.length > 0 ? [`${names(asks)}, which ask${asks.length > 1 ? '' : 's'} ${listed(models)}`] : []),
  ].join(', and ');
}

/** `a walker over the frozen model x.gguf was trained by cloning and PPO (3 seeds, 12 min and 300,000 environment steps each)`. */
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
