/** Head of the page: title, summary cards, main result, limits and subject. */
import { basename } from 'node:path';
import { phases } from '../src/run/records.js';
import { phaseTitle } from './curves.js';
import type { Fact, PageView, Tile } from './html.js';
import { edgeReservations } from './papers/llm-ark.js';
import { boundOf, mainRow, type ResultRow, type ResultSet } from './results.js';
import { intervalsOver } from './statistics.js';
import { encoderOf, seedOf, type RunData, type RunGroup, type Subject } from './run-data.js';
import { largest, meanOf, takenUpTo } from './plots/series.js';
import { askedFacts } from './tables.js';
import { numberText } from '../src/run/figures.js';
import { duration, listed, milliseconds, plain, pText, signed, trainedMethodOf } from './format.js';

/** The set that represents each data set and task, in the order of the sets: the subject of the page. */
function firstSets(sets: readonly ResultSet[]): ResultSet[] {
  const keyOf = ({ about: { task, dataset } }: ResultSet) => JSON.stringify([task, dataset]);
  return sets.filter((set, i) => sets.findIndex((one) => keyOf(one) === keyOf(set)) === i);
}

/** Heading and summary of the page. */
export function openingOf(
  subjects: readonly Subject[],
  sets: readonly ResultSet[],
): Pick<PageView, 'status' | 'tiles' | 'done' | 'result' | 'reservations'> {
  const firsts = firstSets(sets);
  const groups = subjects.flatMap((subject) => subject.groups);
  const result = firsts.length === 0 ? nothingEvaluated(groups) : `${firsts.map(resultOf).join('; ')}.`;
  const untrained = firsts.filter(({ about }) => !subjects.some(({ dataset }) => dataset === about.dataset));
  const done = [
    ...subjects.map((subject) => trainedOn(subject, firsts)),
    ...untrained.map((set) => `The ${whatOf(set)} were put to ${agentsOf(set.rows)}.`),
  ];
  return {
    status: statusOf(groups),
    tiles: firsts.slice(0, 3).map((set) => {
      const subject = subjects.find(({ dataset }) => dataset === set.about.dataset);
      return { heading: firsts.length > 1 ? set.title : '', tiles: tilesOf(set, subject) };
    }),
    done: done.join(' '),
    result: result[0]!.toUpperCase() + result.slice(1),
    reservations: [...new Set([...firsts.flatMap(reservationsOf), ...sets.flatMap(modelReservations)])].join(' '),
  };
}

/** Unfinished runs with their state; empty if all have finished. */
function statusOf(groups: readonly RunGroup[]): string {
  const said = groups.flatMap(({ runs }) =>
    runs.flatMap(({ info: { id, state } }) => {
      const at = state.phase === undefined ? '' : ` in ${phaseTitle(state.phase, groups)}`;
      const words: Record<string, string> = {
        running: `${id} is still running${at}: what stands here is not its end.`,
        stopped: `${id} was stopped${at}; kgwalk train --resume resumes it.`,
        failed: `${id} failed${at}${state.reason === undefined ? '' : `: ${state.reason}`}.`,
      };
      return words[state.status] ?? [];
    }),
  );
  return said.join(' ');
}

/** Subject of the page in a few words: `PPO on the dialogues of demo`. */
export function titleOfPage(subjects: readonly Subject[], sets: readonly ResultSet[]): string {
  const groups = subjects.flatMap((subject) => subject.groups);
  const datasets = [...new Set([...subjects.map(({ dataset }) => dataset), ...sets.map(({ about }) => about.dataset)])];
  const [task, ...others] = new Set(sets.map(({ about }) => about.task));
  const where = `${task && others.length === 0 ? `the ${task} of ` : ''}${listed(datasets)}`;
  const agents = new Set(sets.flatMap(({ rows }) => rows.map(({ label }) => label)));
  if (groups.length === 0) return `${agents.size > 1 ? `${agents.size} agents` : [...agents][0]!} on ${where}`;
  const methods = new Set(groups.map(({ runs }) => trainedMethodOf(runs[0]!.info.config) ?? 'walker'));
  const count = groups.length > methods.size ? `${groups.length} settings of ` : '';
  return `${count}${listed([...methods])} on ${where}`;
}

/** Data sets and models, shown below the heading. */
export function factsOf(subjects: readonly Subject[], [first]: readonly ResultSet[]): Fact[] {
  const runs = subjects.flatMap(({ groups }) => groups.flatMap((group) => group.runs));
  const seeds = [...new Set(runs.map(seedOf))].sort((a, b) => Number(a) - Number(b));
  const facts = first ? askedFacts(first) : [];
  if (runs.length > 0)
    facts.push(
      { name: 'runs', value: plain(runs.length) },
      { name: seeds.length === 1 ? 'seed' : 'seeds', value: seeds.join(', ') },
    );
  return facts;
}

/** Without an evaluation: how to make one. */
export function nothingEvaluated(groups: readonly RunGroup[]): string {
  const { id } = groups[0]!.runs[0]!.info;
  return `Nothing was evaluated yet: run kgwalk evaluate ${id}, then kgwalk report ${id} again.`;
}

/**
 * Main result: for a trained agent its score and the distance to the best other agent; for untrained ones the best, its calls, and the
 * runner-up. Differences that may be chance, and ties, are named as such.
 */
export function resultOf(set: ResultSet): string {
  const { main } = set;
  const row = mainRow(set);
  if (!row.own) return `on the ${whatOf(set)}, ${bestOf(set)}`;
  const has = `on the ${whatOf(set)}, ${row.label} has ${article(main.title)} ${main.title} of ${text(valueOf(row, set), set)}`;
  const other = strongest(set);
  if (!other) return has;
  const { away, pValue } = distanceOf(set, other);
  const distance = `${pointsText(Math.abs(away), set)} ${away >= 0 ? 'above' : 'below'}`;
  const chance = pValue !== undefined && pValue >= 0.05 ? ', which may be chance' : '';
  return `${has}, ${distance} ${other.label} (${text(valueOf(other, set), set)})${chance}`;
}

function bestOf(set: ResultSet): string {
  const { main, rows } = set;
  const shown = (row: ResultRow) => text(valueOf(row, set), set);
  const best = rows.filter((row) => shown(row) === shown(rows[0]!));
  const next = rows[best.length];
  const who = listed(best.map((row) => row.label + costOf(row)));
  const second = next ? `, before ${next.label}${costOf(next)} and ${shown(next)}` : '';
  if (best.length > 1)
    return `${who} are level, with ${article(main.title)} ${main.title} of ${shown(rows[0]!)} each${second}`;
  const what =
    rows.length > 1 ? `the best ${main.title} of ${rows.length} agents` : `${article(main.title)} ${main.title}`;
  return `${who} has ${what}, ${shown(rows[0]!)}${second}`;
}

const article = (word: string) => (/^([AEFHILMNORSX](?![a-z])|[aeiou])/.test(word) ? 'an' : 'a');

function costOf({ model, cost: { calls } }: ResultRow): string {
  return model === undefined ? '' : ` with ${(calls?.mean ?? 0).toFixed(1)} calls a sample`;
}

/** `661 samples of umls, test`. */
const whatOf = ({ title, about: { n } }: ResultSet): string => `${plain(n)} samples of ${title}`;

/** Limits and qualifications of the result. */
export function reservationsOf(set: ResultSet): string[] {
  const { main, rows, labels } = set;
  const bound = boundOf(set, main.key);
  const trained = rows.filter(({ own, group }) => own && group !== undefined);
  const settings = new Set(trained.map(({ group }) => group)).size;
  const what = new Set(trained.map(({ kind }) => kind)).size > 1 ? 'trained agents' : 'settings';
  const said = [
    bound !== undefined && `On ${set.title}, walks reach at most ${text(bound, set)}.`,
    settings > 1 && `The result is the best of ${settings} ${what}, chosen by this very figure.`,
    ...edgeReservations(set),
    labels.includes('fixture') &&
      'The graph is a fixture, collected partly from the gold answers: these are no benchmark results.',
  ];
  return said.filter((one) => one !== false);
}

/** Above this number, agents are counted instead of named. */
const mostNamed = 8;

/** The bundled model was trained on steps of these agents on the demo's own train questions. */
function modelReservations({ rows }: ResultSet): string[] {
  const asking = rows.filter(({ model }) => model !== undefined && basename(model).startsWith(demoModel));
  if (asking.length === 0) return [];
  const names = asking.length > mostNamed ? `these ${asking.length} agents` : listed(asking.map(({ label }) => label));
  return [
    `${demoModel} has 3 million parameters, knows the demo world alone and was trained on the steps of such agents on its train questions (models/demo/README.md): what ${names} reach${asking.length === 1 ? 'es' : ''} with it says little of other models. A bigger one: kgwalk models list.`,
  ];
}

const demoModel = 'kgwalk-demo.gguf';

/** Sentence on how agents were trained on one data set, and which agents they were evaluated with. */
function trainedOn({ dataset, groups }: Subject, sets: readonly ResultSet[]): string {
  const set = sets.find(({ about }) => about.dataset === dataset);
  const others = set?.rows.filter(({ own }) => !own) ?? [];
  const withOthers = others.length > 0 ? ` with ${agentsOf(others)}` : '';
  return `On ${dataset}, ${training(groups)}${set ? `, then evaluated on ${whatOf(set)}${withOthers}` : ''}.`;
}

/** `a, b and c, which ask small.gguf`. */
function agentsOf(rows: readonly ResultRow[]): string {
  const asks = rows.filter(({ model }) => model !== undefined);
  const free = rows.filter(({ model }) => model === undefined);
  const models = [...new Set(asks.map(({ model }) => basename(model!)))];
  const names = (some: readonly ResultRow[]) => listed(some.map(({ label }) => label));
  const asking = asks.length > 0 && `${names(asks)}, which ask${asks.length > 1 ? '' : 's'} ${listed(models)}`;
  return [names(free), asking].filter(Boolean).join(', and ');
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
  const seconds = meanSeconds(runs);
  const timings = runs.map((run) => run.timings);
  const steps = takenUpTo(timings, 'ppo', 'time/env_steps');
  const each = [
    seconds > 0 && duration(seconds),
    steps && `${plain(Math.round(largest(steps.values())))} environment steps`,
  ].filter(Boolean);
  const details = [
    groups.length > 1 && `${groups.length} settings`,
    `${seeds} ${seeds === 1 ? 'seed' : 'seeds'}`,
    each.length > 0 && `${each.join(' and ')}${runs.length > 1 ? ' each' : ''}`,
  ];
  const learned = by.length > 0 ? ` by ${listed(by)}` : '';
  return `a walker${over} was trained${learned} (${details.filter(Boolean).join(', ')})`;
}

const meanSeconds = (runs: readonly RunData[]): number =>
  meanOf(runs.map(({ timings }) => timings.reduce((sum, { seconds }) => sum + seconds, 0)));

/** Three to five cards about the subject of the set. @param subject its runs, if available */
export function tilesOf(set: ResultSet, subject: Subject | undefined): Tile[] {
  const { main, about } = set;
  const row = mainRow(set);
  const estimate = row.metrics[main.key];
  if (!estimate) return [];
  const { value, low, high, deviation } = estimate;
  const of = (one: number) => numberText(one, main.unit);
  const seeds = deviation === undefined ? '' : `; ± ${of(deviation)} between ${row.seeds} seeds`;
  return [
    { name: main.title, value: text(value, set), detail: `${row.label}, n = ${plain(about.n)}` },
    ...againstTile(set, cloneOf(set)),
    { name: '95\u00a0% interval', value: `${of(low)} to ${of(high)}`, detail: `${intervalsOver(set, [row])}${seeds}` },
    ...againstTile(set, strongest(set)),
    ...costTile(row, row.own ? subject : undefined),
  ];
}

function againstTile(set: ResultSet, other: ResultRow | undefined): Tile[] {
  if (!other) return [];
  const { away, pValue } = distanceOf(set, other);
  const points = set.main.unit === '%' ? ' points' : '';
  const tested = pValue === undefined ? '' : `; p ${pText(pValue)}${pValue >= 0.05 ? ', may be chance' : ''}`;
  const detail = `it has ${text(valueOf(other, set), set)}${tested}`;
  return [{ name: `against ${other.label}`, value: `${signed(away, set.main)}${points}`, detail }];
}

/** Training cost, otherwise cost per answer. */
function costTile({ cost, model, speed }: ResultRow, subject: Subject | undefined): Tile[] {
  const tokens = (cost.promptTokens?.mean ?? 0) + (cost.completionTokens?.mean ?? 0);
  const answering = [
    ...(model !== undefined && cost.calls
      ? [`${cost.calls.mean.toFixed(1)} calls`, `${plain(Math.round(tokens))} tokens`]
      : []),
    ...(speed ? [milliseconds(speed.msPerSample)] : []),
  ];
  const runs = subject?.groups.flatMap((group) => group.runs) ?? [];
  const seconds = meanSeconds(runs);
  if (seconds > 0) {
    const each = runs.length > 1 ? ' each' : '';
    const detail = answering.length > 0 ? `${answering.join(', ')} a sample` : 'on this machine';
    return [{ name: `training${each}`, value: duration(seconds), detail }];
  }
  const [first, ...others] = answering;
  return first === undefined ? [] : [{ name: 'cost a sample', value: first, detail: others.join(', ') }];
}

/** The best other agent of the set; untrained ones if the subject is trained. */
function strongest(set: ResultSet): ResultRow | undefined {
  const row = mainRow(set);
  return set.rows.find((one) => one !== row && !(row.own && one.own) && one.metrics[set.main.key] !== undefined);
}

/** The clone that the subject was trained on from. */
function cloneOf(set: ResultSet): ResultRow | undefined {
  const row = mainRow(set);
  return set.rows.find((one) => one !== row && one.own && one.group === row.group && one.checkpoint === 'clone');
}

/** Distance of the subject to another agent, with p if they were compared. */
function distanceOf(set: ResultSet, other: ResultRow): { away: number; pValue?: number } {
  const away = valueOf(mainRow(set), set) - valueOf(other, set);
  return other.difference ? { away: -other.difference.value, pValue: other.difference.pValue } : { away };
}

/** Main figure of an agent; 0 if it has none. */
const valueOf = ({ metrics }: ResultRow, { main }: ResultSet): number => metrics[main.key]?.value ?? 0;

const text = (value: number, { main: { unit } }: ResultSet): string =>
  `${numberText(value, unit)}${unit === '%' ? '\u00a0%' : ''}`;

/** A distance in the main figure: `9.0 points`, `0.031`. */
const pointsText = (away: number, { main: { unit } }: ResultSet): string =>
  `${numberText(away, unit)}${unit === '%' ? ' points' : ''}`;
