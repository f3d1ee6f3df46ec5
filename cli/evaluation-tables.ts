/** Tables of evaluations and comparisons for any task. */
import type { Comparison } from '../evaluation/compare.js';
import type { Row as SampleRow } from '../evaluation/score.js';
import { lostReplies } from '../evaluation/replies.js';
import type { EvaluationSpeed } from '../evaluation/throughput-meter.js';
import { agentTitle, type EvaluationRecord, sampleText, type Section } from '../src/run/evaluation.js';
import { type Figure, intervalText, numberText, tableFigures, valueText } from '../src/run/figures.js';
import { diffConfig } from '../src/run/config-values.js';
import { bilinearSettings } from '../agents/embeddings/bilinear/settings.js';
import { transeSettings } from '../agents/embeddings/transe/settings.js';
import type { HopAccuracy } from '../agents/question-agent.js';
import type { Usage } from '../src/llm/language-model.js';
import type { Forecast } from '../tasks/forecast.js';
import type { NamedEvaluation } from '../tasks/evaluate.js';
import { printLine, printSections, printTable, type Row } from './output.js';

/** Prints figures, slices, the task's findings, cost and misses. */
export function printEvaluation(record: EvaluationRecord, speed?: EvaluationSpeed): void {
  const { figures, metrics, slices, sections, cost, misses, excluded, clusters } = record;
  printLine(headline(record));
  printLine();
  printFigures(record);
  const columns = [
    ...tableFigures(figures, [metrics, ...Object.values(slices)]),
    ...figures.filter(({ key, unit }) => unit === 'calls' && metrics[key]!.value > 0),
  ];
  if (Object.keys(slices).length > 0) {
    printLine();
    printTable(
      Object.entries({ all: metrics, ...slices }).map(([slice, own]) => ({
        slice,
        n: Math.max(...Object.values(own).map(({ n }) => n)),
        ...Object.fromEntries(columns.map((one) => [columnOf(one), valueText(own[one.key], one.unit)])),
      })),
    );
  }
  printLine();
  printSections(sections);
  const spent = Object.entries(cost).filter(([, { total }]) => total > 0);
  if (spent.length > 0) {
    printLine();
    printTable(
      spent.map(([kind, { mean, median, p95, max, total }]) => ({
        ...{ 'a sample': kind, mean: mean.toFixed(1), median, p95, max, total },
      })),
    );
  }
  printLine();
  printLine(`misses: ${counts(misses) || 'none'}`);
  if (Object.keys(excluded).length > 0) printLine(`not asked: ${counts(excluded)}`);
  if (speed) printLine(speedText(record, speed));
  printLine(`${unitsText(figures)}brackets: 95 % bootstrap over ${clusters}`);
}

/** Tokens of all samples of an evaluation. */
export function usageOf({ cost }: EvaluationRecord): Usage {
  const [promptTokens = 0, cachedTokens = 0, completionTokens = 0] = (
    ['promptTokens', 'cachedTokens', 'completionTokens'] as const
  ).map((kind) => cost[kind]?.total);
  return { promptTokens, cachedTokens, completionTokens };
}

/** Prints calls, tokens and price of an evaluation that was not made. */
export function printForecast({ model, n, calls, promptTokens, completionTokens, price, most }: Forecast): void {
  const priced = (of: number | undefined) => (of === undefined ? '' : `, price ${of.toFixed(4)}`);
  printLine(`${n} samples by ${model}: ${calls} calls, ${promptTokens} prompt tokens, none of them cached`);
  printLine(`${completionTokens} reply tokens${priced(price)}`);
  if (most) printLine(`${most.completionTokens} if each reply takes replyTokens${priced(most.price)}`);
}

/** Name of a figure: its key in records, spelled as on pages. */
const columnOf = ({ key, title, rare }: Figure) => (rare ? `${key} %` : title.toLowerCase() === key ? title : key);

/** Figures at several k form one table, the others another. */
function printFigures({ figures, metrics }: EvaluationRecord): void {
  const families = Map.groupBy(figures, (figure) => columnOf(figure).replace(/@.*/, '@k'));
  const atK = [...families].filter(([, own]) => own.length > 1);
  const kOf = ({ key }: Figure) => Number(key.replace(/^.*@/, ''));
  const ks = [...new Set(atK.flatMap(([, own]) => own.map(kOf)))].sort((a, b) => a - b);
  const shown = (figure: Figure) => intervalText(metrics[figure.key], figure.unit);
  if (atK.length > 0) {
    printTable(
      atK.map(([family, own]) => ({
        metric: family,
        ...Object.fromEntries(ks.map((k) => [`k=${k}`, own.filter((figure) => kOf(figure) === k).map(shown)[0]])),
      })),
    );
    printLine();
  }
  const single = [...families.values()].flatMap((own) => (own.length === 1 ? own : []));
  printTable(single.map((figure) => ({ metric: columnOf(figure), value: shown(figure), n: metrics[figure.key]!.n })));
}

/** Prints one row per agent with its difference to the reference and the test, and one table per compared slice. */
export function printComparison(
  evaluations: readonly NamedEvaluation<SampleRow>[],
  comparisons: readonly Comparison[],
  against: string,
  together: readonly Section[] = [],
  price?: (usage: Usage) => number,
): void {
  const records = evaluations.map(({ record }) => record);
  const [first] = records;
  const prompted = records.filter(({ model }) => model !== undefined);
  const shared = [new Set(prompted.map(modelText)), new Set(prompted.map(budgetText))];
  const sharedTexts = shared.flatMap((texts) => (texts.size === 1 ? [...texts] : []));
  const {
    note: _note,
    run: _run,
    topicGiven: _topicGiven,
    hops: _hops,
    hopAccuracy: _hopAccuracy,
    encoder: _encoder,
    options: _options,
    ...shown
  } = prompted[0] ?? first!;
  printLine(headline({ ...shown, agent: `${evaluations.length} agents` }, sharedTexts));
  printLine();
  const measured = records.map(({ metrics }) => metrics);
  // Some figures exist for some agents only, such as copied answers of agents with a model.
  const declared = [...new Map(records.flatMap((record) => record.figures.map((one) => [one.key, one]))).values()];
  const figures = tableFigures(declared, measured);
  const partial = declared.filter(
    ({ key, place, unit }) => place === 'table' && unit !== 'calls' && measured.some((metrics) => metrics[key]),
  );
  printTable(
    evaluations.map((one) => ({
      ...comparedRow(one, figures, partial, comparisons, against, shared),
      ...(price && { price: price(usageOf(one.record)).toFixed(4) }),
    })),
  );
  const slices = new Set(comparisons.flatMap((comparison) => Object.keys(comparison.slices ?? {})));
  for (const slice of slices) {
    printLine();
    printLine(slice);
    printTable(
      evaluations.map(({ name, title = name, record }) => {
        const differences = comparisons.find(({ agent }) => agent === name)?.slices?.[slice];
        return {
          agent: title,
          ...comparedCells(figures, record.slices[slice] ?? {}, differences, against),
        };
      }),
    );
  }
  const trained = evaluations.filter(({ training }) => training);
  if (trained.length > 0) {
    printLine();
    printTable(
      trained.map(({ name, training }) => ({
        trained: name,
        weights: training!.weights,
        'processor seconds of training': training!.cpuSeconds?.toFixed(1) ?? '',
      })),
    );
  }
  const further = [...together, ...lostReplies(Object.assign({}, ...measured) as EvaluationRecord['metrics'])];
  if (further.length > 0) printLine();
  printSections(further);
  printLine();
  printBars(evaluations, figures[0]!);
  for (const line of givenLines(records)) printLine(line);
  printLine(
    `${unitsText(figures)}brackets: 95 % bootstrap over ${first!.clusters}; p: paired, two-sided, not corrected for the number of agents`,
  );
}

function comparedRow(
  { name, title = name, record, speed }: NamedEvaluation<SampleRow>,
  figures: readonly Figure[],
  partial: readonly Figure[],
  comparisons: readonly Comparison[],
  against: string,
  [models, budgets]: readonly ReadonlySet<string>[],
): Row {
  const { metrics, cost, note, model, simulated, switches } = record;
  const differences = comparisons.find(({ agent }) => agent === name)?.differences;
  const asksModels = models!.size > 0;
  return {
    agent: title,
    ...comparedCells(figures, metrics, differences, against),
    ...(asksModels && {
      ...Object.fromEntries(partial.map((one) => [columnOf(one), valueText(metrics[one.key], one.unit)])),
      'calls mean/p95/max': cost.calls && `${cost.calls.mean.toFixed(1)} / ${cost.calls.p95} / ${cost.calls.max}`,
      tokens: ((cost.promptTokens?.mean ?? 0) + (cost.completionTokens?.mean ?? 0)).toFixed(0),
      'ms/sample': speed && speed.remembered <= speed.asked ? speed.msPerQuestion.toFixed(1) : '',
    }),
    ...(asksModels && { model: `${model ?? '-'}${simulated ? ' (simulated)' : ''}` }),
    ...(switches && { switches: switchesText(switches) }),
    ...(budgets!.size > 1 && { budget: model === undefined ? '-' : budgetText(record).replace('budget ', '') }),
    ...(record.topicGiven !== undefined && { given: givenText(record) }),
    note: [...(note === undefined ? [] : [note]), ...openedText(record)].join('; '),
  };
}

/** Information given to the agent in addition to the question. */
const givenText = (record: Record<string, unknown>): string =>
  [...(record.topicGiven === true ? ['topics'] : []), ...hopsText(record)].join(', ');

/** Source of the number of relations; of predicted ones, how often they are right on train questions that were held out. */
function hopsText({ hops, hopAccuracy }: Record<string, unknown>): string[] {
  if (hops === undefined) return [];
  const { n, accuracy, majority } = (hopAccuracy ?? {}) as Partial<HopAccuracy>;
  const percent = (share = 0) => `${(100 * share).toFixed(1)} %`;
  const tried = n && ` (${percent(accuracy)} right on train, cross-validated, n ${n}; majority ${percent(majority)})`;
  return [`hops ${String(hops)}${tried ?? ''}`];
}

/** Notes on the number of hops, given to all agents alike or not: `p` is of agents alone only where it is the same. */
function givenLines(records: readonly EvaluationRecord[]): string[] {
  if (records.every(({ hopsWithheld }) => hopsWithheld === true)) return ['hops withheld from all'];
  const trained = records.filter(({ checkpoint, hops }) => checkpoint !== undefined && hops === undefined);
  const told = records.filter(({ model, hops }) => model !== undefined && hops === 'given');
  if (trained.length === 0 || told.length === 0) return [];
  return [`hops given to ${told.map(({ agent }) => agent).join(', ')}, to runs not: differences and p include that`];
}

/** The main figure with its interval, its difference to the reference with the test, and the other figures without intervals. */
function comparedCells(
  [main, ...others]: readonly Figure[],
  metrics: EvaluationRecord['metrics'],
  differences: Comparison['differences'] | undefined,
  against: string,
): Row {
  const { key, unit } = main!;
  const tested = differences?.[key];
  return {
    [columnOf(main!)]: intervalText(metrics[key], unit),
    [`${columnOf(main!)} − ${against}`]: intervalText(tested, unit) ?? '',
    p: tested ? tested.pValue.toFixed(3) : '',
    ...Object.fromEntries(others.map((one) => [columnOf(one), valueText(metrics[one.key], one.unit)])),
  };
}

function printBars(evaluations: readonly NamedEvaluation<SampleRow>[], { key, unit }: Figure): void {
  const width = Math.max(...evaluations.map(({ name, title = name }) => title.length));
  const valueOf = ({ record }: NamedEvaluation<SampleRow>) => record.metrics[key]?.value ?? 0;
  const values = evaluations.map(valueOf);
  const [least, most] = unit === 'number' ? [Math.min(0, ...values), Math.max(0, ...values)] : [0, 1];
  for (const evaluation of evaluations) {
    const { name, title = name } = evaluation;
    const value = valueOf(evaluation);
    const bar = '█'.repeat(Math.round((40 * (value - least)) / (most - least || 1))).padEnd(40, '·');
    printLine(`${title.padEnd(width)} ${bar} ${numberText(value, unit)}`);
  }
}

/** Agent, samples, and all other settings that affect the figures. */
function headline(record: EvaluationRecord, more: readonly string[] = []): string {
  const { agent, run, checkpoint, note, dataset, graph, labels = [], split, limit, n } = record;
  const who = run === undefined ? agentTitle(agent) : `${run} (${checkpoint})`;
  const { repeats, subsets, turns, holdOut, horizon, beamWidth, topicGiven, hopsWithheld } = record as Record<
    string,
    unknown
  >;
  const parts = Array.isArray(subsets) ? ` (${subsets.join(', ')})` : graph === undefined ? '' : `, graph ${graph}`;
  return [
    `${who}${note === undefined ? '' : ` [${note}]`} on ${dataset}${parts}${labels.map((label) => ` [${label}]`).join('')}`,
    `split ${split}${holdOut === undefined ? '' : `, held out by ${String(holdOut)}`}`,
    `n = ${n}${limit === undefined ? '' : `, ${sampleText(record)}`}`,
    ...(repeats === undefined ? [] : [`repeats ${String(repeats)}`]),
    ...(turns === undefined ? [] : [`turns ${String(turns)}`]),
    ...(horizon === undefined ? [] : [`horizon ${String(horizon)}`]),
    ...(beamWidth === undefined ? [] : [`beam ${String(beamWidth)}`]),
    ...(record.model === undefined || more.length > 0 ? more : [modelText(record), budgetText(record)]),
    ...(record.switches && more.length === 0 ? [switchesText(record.switches)] : []),
    ...openedText(record),
    ...(topicGiven === false ? ['topics not given'] : []),
    ...hopsText(record),
    ...(hopsWithheld === true ? ['hops withheld'] : []),
  ].join(' · ');
}

const embeddings = { transe: transeSettings, bilinear: bilinearSettings };

/** Encoder and embedding of an untrained agent, with the settings that differ from the defaults. */
function openedText({ encoder, options = {} }: EvaluationRecord): string[] {
  const read = Object.entries(embeddings).flatMap(([name, settings]) => {
    const own = options[name] as Record<string, unknown> | undefined;
    const changed =
      own && diffConfig(own, settings.parse({ enabled: true })).map((key) => `${key}=${String(own[key])}`);
    return changed ? [`${name} ${changed.join(', ') || 'by default settings'}`] : [];
  });
  return [...(encoder === undefined ? [] : [`encoder ${encoder}`]), ...read];
}

const modelText = ({ model, simulated }: EvaluationRecord) => `model ${model}${simulated ? ' [simulated]' : ''}`;

const budgetText = ({ budget, budgetMode }: EvaluationRecord) =>
  `budget ${budget ?? 'none'} ${budgetMode ?? ''}`.trim();

const switchesText = (switches: Readonly<Record<string, unknown>>) =>
  Object.entries(switches)
    .map(([name, value]) => `${name}=${JSON.stringify(value)}`)
    .join(', ');

const unitTexts: Partial<Record<Figure['unit'], string>> = {
  '%': 'percent; ',
  mean: 'filtered by all splits, realistic ranks; ',
};

/** Difference of the main figure. */
const unitsText = ([main]: readonly Figure[]) => unitTexts[main!.unit] ?? '';

function speedText({ cost }: EvaluationRecord, speed: EvaluationSpeed): string {
  const { seconds, prepareSeconds, msPerQuestion, asked, remembered, tokensPerSecond } = speed;
  const prompt = cost.promptTokens?.total ?? 0;
  const parts = [
    `${seconds.toFixed(1)} s${prepareSeconds > 0.05 ? `, ${prepareSeconds.toFixed(1)} of them preparing` : ''}`,
    `${msPerQuestion.toFixed(1)} ms a sample`,
  ];
  if (asked + remembered > 0) {
    parts.push(`${asked} requests, ${remembered} remembered`, `${tokensPerSecond.toFixed(0)} tokens/s`);
    const cached = prompt === 0 ? 0 : (cost.cachedTokens?.total ?? 0) / prompt;
    parts.push(`${numberText(cached)} % of prompt tokens from the cache`);
  }
  return parts.join(' · ');
}

const counts = (values: Readonly<Record<string, number>>) =>
  Object.entries(values)
    .filter(([, count]) => count > 0)
    .map(([name, count]) => `${name} ${count}`)
    .join(', ');
