/** What was done, from the records: a sentence of walks in dialogues, and one of questions. */
import { basename } from 'node:path';
import { phases } from '../src/run/records.js';
import { titleOfLinks, type LinkSet } from './link-results.js';
import { phaseTitle } from './measures.js';
import { duration, plain } from './numbers.js';
import type { QuestionSet } from './question-results.js';
import type { ResultSet } from './results.js';
import type { RunGroup } from './run-data.js';
import { encoderOf, seedOf } from './run-data.js';
import { largest, meanOf, takenUpTo } from './series.js';
import { listed } from './summary.js';

/** How walkers were trained on dialogues, and beside whom they were evaluated. */
export function trainedOnDialogues(groups: readonly RunGroup[], set: ResultSet | undefined): string {
  const { dataset, graph } = dataOf(groups);
  const others = (set?.rows ?? []).filter(({ own }) => !own).map(({ label }) => label);
  const evaluated = set
    ? `, then evaluated on the ${set.split} split${others.length > 0 ? ` beside ${listed(others)}` : ''}`
    : '';
  return `On the dialogues of ${dataset} (graph ${graph}), ${training(groups)}${evaluated}.`;
}

/** How walkers were trained on questions, and who else was asked what. */
export function askedQuestions(groups: readonly RunGroup[], set: QuestionSet | undefined): string {
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
export function answeredLinks(groups: readonly RunGroup[], set: LinkSet | undefined): string {
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
