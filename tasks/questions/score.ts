/** Rows and figures of questions, and reasons for misses. */
import type { QuestionAnswer } from '../../agents/question-agent.js';
import { excludedTopics, type QuestionSample } from '../../datasets/question.js';
import { refuseOtherSamples } from '../../evaluation/compare.js';
import { countsOf } from '../../evaluation/evaluate.js';
import { withoutRepeat } from '../../evaluation/repeats.js';
import { replyCounts, replyFigures, replyValue } from '../../evaluation/replies.js';
import type { Attempt, Compared, Measure, Scorer } from '../../evaluation/score.js';
import { questionFacts } from '../../evaluation/oracle/question-facts.js';
import { truthIn } from '../../evaluation/oracle/right-candidates.js';
import { copiedFigure } from '../../evaluation/watch-decisions.js';
import type { Graph } from '../../src/kg/graph.js';
import type { NameIndex } from '../../src/kg/name-index.js';
import { answerMetrics, matchAnswers, truthAccuracy, unionMetrics } from '../../src/metrics/answers.js';
import { bootstrapMeans } from '../../src/metrics/bootstrap.js';
import type { Section } from '../../src/run/evaluation.js';
import { type Estimate, type Figure, intervalText, numberText } from '../../src/run/figures.js';
import { copiedShare, countDecisions, decisionsSection, decisionsTitle, sumOfCounts } from './decisions.js';
import { isRight, type PhaseCalls, questionArrow, type QuestionMiss, questionRow, type QuestionRow } from './row.js';
import { experienceSection, experienceTitle } from './experience.js';
import { exampleOf } from './show.js';
import { type RiskCoverage, coverages, riskCoverage } from '../../src/metrics/selective.js';

/** Figures of questions, in the order of tables. */
export const questionFigures: readonly Figure[] = [
  { key: 'hit@1', title: 'Hit@1', unit: '%', better: 'high', place: 'main', tested: true },
  { key: 'hit-any', title: 'any answer right', unit: '%', better: 'high' },
  { key: 'precision', title: 'precision', unit: '%', better: 'high' },
  { key: 'recall', title: 'recall', unit: '%', better: 'high' },
  { key: 'f1', title: 'F1', unit: '%', better: 'high', place: 'main', tested: true },
  { key: 'exact', title: 'exact set', unit: '%', better: 'high', place: 'main', tested: true },
  { key: 'partial', title: 'partial match', unit: '%', better: 'high', place: 'table' },
  { key: 'complete', title: 'complete match', unit: '%', better: 'high', place: 'main', tested: true },
  { key: 'accuracy', title: 'accuracy', unit: '%', better: 'high', place: 'main', tested: true },
  { key: 'hops', title: 'hops predicted right', unit: '%', better: 'high', place: 'main' },
  { key: 'grounded', title: 'right with evidence', unit: '%', better: 'high', place: 'table' },
  { key: 'reachable', title: 'some answer reachable', unit: '%', better: 'high' },
  { key: 'reachable-all', title: 'all answers reachable', unit: '%', better: 'high' },
  { key: 'abstained', title: 'abstained', unit: '%', better: 'low' },
  { key: 'unparsed', title: 'reply not read', unit: '%', better: 'low' },
  { key: 'crashed', title: 'crashed', unit: '%', better: 'low', place: 'table' },
  ...replyFigures,
  { key: 'degraded', title: 'fell back', unit: '%', better: 'low' },
  copiedFigure,
  { key: 'at-cap', title: 'budget spent', unit: '%', better: 'low', place: 'table' },
  { key: 'calls.mean', title: 'calls', unit: 'calls', better: 'low', place: 'table', tested: true },
];

const ofEntities: readonly string[] = ['hit@1', 'hit-any', 'precision', 'recall', 'f1', 'exact', 'partial', 'complete'];

/** Figures that a row keeps under other names. */
const ofRows: Record<string, (row: QuestionRow) => number | undefined> = {
  accuracy: ({ form, metrics }) => (form === 'truth' ? metrics.accuracy! : undefined),
  hops: ({ metrics }) => metrics.hops,
  grounded: ({ metrics }) => metrics.grounded,
  reachable: ({ form, reachable }) => (form === 'entities' ? Number(reachable) : undefined),
  'reachable-all': ({ form, reachableAll }) => (form === 'entities' ? Number(reachableAll) : undefined),
  abstained: ({ abstained }) => Number(abstained),
  unparsed: ({ unparsed }) => Number(unparsed),
  crashed: ({ crash }) => Number(crash !== undefined),
  degraded: ({ degraded }) => Number(degraded),
  copied: ({ decisions }) => copiedShare(decisions),
  'at-cap': ({ atCap }) => Number(atCap),
  'calls.mean': ({ calls }) => calls,
};

/**
 * Each question is a separate cluster: questions of one template are not drawn together, so an interval says what other
 * questions of the same making would give, not what other templates would.
 */
export const questionMeasure: Measure<QuestionRow> = {
  row: questionRow,
  valueOf(key) {
    if (ofEntities.includes(key)) return ({ form, metrics }) => (form === 'entities' ? metrics[key]! : undefined);
    const valueOf = ofRows[key];
    if (valueOf) return valueOf;
    const ofReplies = replyValue(key);
    if (ofReplies) return (row) => ofReplies(replyCounts(row));
    throw new TypeError(`expected a figure of questions, got ${key}`);
  },
  clusters: 'questions',
  cluster: ({ id }) => withoutRepeat(id),
  slices: {
    subset: ({ subset }) => subset,
    type: ({ type }) => type,
    form: ({ form }) => form,
    answers: ({ golds }) => (golds === 0 ? undefined : golds === 1 ? '1' : 'many'),
  },
  costOf: ({ calls, promptTokens, cachedTokens, completionTokens, graphReads, encodes, cutRelations }) => ({
    ...{ calls, promptTokens, cachedTokens, completionTokens, graphReads, encodes },
    ...(cutRelations !== undefined && { cutRelations }),
  }),
  arrow: questionArrow,
};

interface QuestionScoring {
  graph: Graph;
  names: NameIndex;
  /** Calls a question may cost; null: no budget. */
  budget: number | null;
  /** The agent starts from the topics. */
  topicGiven: boolean;
}

export function questionScorer(scoring: QuestionScoring): Scorer<QuestionSample, QuestionAnswer, QuestionRow> {
  const context = { ...scoring, reach: goldReach(scoring.graph.local) };
  return {
    measure: questionMeasure,
    figures: questionFigures,
    rowOf: (sample, attempt) => rowOf(sample, attempt!, context),
    exampleOf: (sample, attempt, row) => exampleOf(sample, attempt, row, scoring.graph),
    summary,
  };
}

/** Names of predicted entities that a row keeps; it keeps all ids. */
const shownNames = 20;

/** An answer that says nothing: what a crashed question is scored as. */
const nothing: QuestionAnswer = {
  entities: [],
  literals: [],
  evidence: [],
  degraded: false,
  stop: 'crashed',
  cost: {},
};

type RowContext = QuestionScoring & { reach: ReturnType<typeof goldReach> };

function rowOf(sample: QuestionSample, attempt: Attempt<QuestionAnswer>, context: RowContext): QuestionRow {
  const { task, gold } = sample;
  const { graph, names, budget } = context;
  const { answer = nothing, failure: crash } = attempt;
  const { truth, text, chain, verified, confidence, stop, degraded } = answer;
  const { graphReads = 0, encodes = 0, cutRelations } = answer.cost;
  const { phases, ...totals } = attempt.totals!;
  const lookup = (name: string) => names.lookup(name);
  const matches = matchAnswers(answer, { golds: gold.answers, topics: task.topics, lookup });
  const isTruth = task.form === 'truth';
  const metrics: Record<string, number> = isTruth
    ? statementMetrics(graph.local, sample, answer)
    : { ...answerMetrics(matches, gold.answers.length) };
  const hops = attempt.trace?.find((event) => event.event === 'hops');
  if (hops && gold.chains.length > 0) metrics.hops = Number(gold.chains[0]!.length === hops.predicted);
  const reach = isTruth ? { some: true, all: true } : context.reach(sample);
  const decisions = countDecisions(graph.local, sample, attempt.decisions ?? []);
  const unparsed = Object.values(phases).some(({ stages }) => (stages.unparsed ?? 0) > 0);
  const row: QuestionRow = {
    id: task.id,
    turn: attempt.turn,
    subset: task.subset,
    type: gold.type,
    form: task.form,
    question: task.question,
    golds: gold.answers.length,
    reachable: reach.some,
    reachableAll: reach.all,
    entities: [...answer.entities],
    names: answer.entities.slice(0, shownNames).map((entity) => graph.entityNames[entity] ?? '?'),
    literals: [...answer.literals],
    ...{ truth, text, chain: chain?.map((relation) => graph.relationNames[relation] ?? '?'), verified, confidence },
    metrics,
    matched: matches.strict,
    matchedLenient: matches.lenient,
    ...totals,
    ...{ graphReads, encodes, cutRelations, phases },
    decisions: decisions.length > 0 ? decisions : undefined,
    stop,
    abstained: crash === undefined && (isTruth ? truth === undefined : matches.items.length === 0),
    ...{ unparsed, degraded },
    atCap: stop === 'budget' || (budget !== null && totals.calls >= budget),
    crash,
  };
  return { ...row, miss: missOf(row, sample, answer, context) };
}

/** Right by chance, of two verdicts, has 50 % `accuracy`; `grounded` are those whose evidence leads along a gold chain as well. */
function statementMetrics(graph: Graph, sample: QuestionSample, { truth, evidence, stop }: QuestionAnswer) {
  const accuracy = stop === nothing.stop ? 0 : truthAccuracy(truth, sample.gold.truth === true);
  const isShown = accuracy === 1 && truthIn(graph, questionFacts(graph, sample), evidence) === truth;
  return { accuracy, grounded: Number(isShown) };
}

function missOf(
  row: QuestionRow,
  { task, gold }: QuestionSample,
  { chain }: QuestionAnswer,
  { topicGiven }: RowContext,
): QuestionMiss | undefined {
  if (isRight(row)) return undefined;
  if (row.crash !== undefined) return 'crashed';
  // What the graph lacks excuses only those who looked there.
  if (topicGiven || row.graphReads > 0) {
    if (task.topics.every(({ entity }) => entity < 0)) return 'topic-not-in-graph';
    if (!row.reachable) return 'answer-not-reachable';
  }
  if (row.unparsed) return 'unparsed';
  if (row.stop === 'budget') return 'budget';
  if (row.abstained) return 'abstained';
  const isKnown = (known: readonly number[]) => String(known) === String(chain);
  if (chain && gold.chains.length > 0 && !gold.chains.some(isKnown)) return 'wrong-chain';
  return 'wrong-answer';
}

/** Relations that a walk may take. */
const horizon = 3;

/** A test if some of a question's right answers can be walked to, or all. O(edges within three relations), less where they are near. */
function goldReach(graph: Graph) {
  // One array for all questions: an entity was met for this question where its mark is the question's number.
  const marks = new Int32Array(graph.numEntities);
  let mark = 0;
  return ({ task, gold }: QuestionSample) => {
    mark++;
    const wanted = new Set(gold.answers.flatMap(({ entity }) => (entity >= 0 ? [entity] : [])));
    const all = wanted.size === gold.answers.length;
    const topics = task.topics.flatMap(({ entity }) => (entity >= 0 ? [entity] : []));
    const excluded = new Set(excludedTopics(task));
    const found = new Set<number>();
    let frontier = topics;
    for (const topic of topics) marks[topic] = mark;
    for (let hop = 0; hop < horizon && found.size < wanted.size; hop++) {
      const next: number[] = [];
      for (const entity of frontier) {
        for (let edge = graph.offsets[entity]!; edge < graph.offsets[entity + 1]!; edge++) {
          const tail = graph.tails[edge]!;
          // A topic is marked from the start, and still an answer where walks may come back to it.
          if (wanted.has(tail) && !excluded.has(tail)) found.add(tail);
          if (marks[tail] === mark) continue;
          marks[tail] = mark;
          next.push(tail);
        }
      }
      frontier = next;
    }
    return { some: found.size > 0, all: all && found.size > 0 && found.size === wanted.size };
  };
}
const shownPoints = 12;

function summary(rows: readonly QuestionRow[]): ReturnType<NonNullable<Scorer<never, never, QuestionRow>['summary']>> {
  const phases = phasesOf(rows);
  const stops = countsOf(rows.map(({ stop }) => stop));
  const curve = budgetCurve(rows);
  const counted = (counts: Record<string, number>) =>
    Object.entries(counts)
      .map(([name, many]) => `${name} ${many}`)
      .join(', ');
  const step = Math.ceil(curve.length / shownPoints);
  const points = curve.filter((_, i) => i % step === 0 || i === curve.length - 1);
  const asked = Object.entries(phases);
  const wanted = rows.filter(({ form }) => form === 'entities');
  const decisions = sumOfCounts(rows.flatMap((row) => row.decisions ?? []));
  const selective = selectiveOf(rows);
  const remarked = rows.flatMap((row) => Object.entries(row.remarks ?? {}));
  const remarks = countsOf(remarked.flatMap(([remark, count]) => Array<string>(count).fill(remark)));
  const cut = rows.filter(({ cutRelations }) => cutRelations !== undefined);
  const { curve: _, ...risk } = selective ?? {};
  return {
    details: {
      ...{ phases, stops, budgetCurve: curve },
      ...(decisions.length > 0 && { decisions }),
      ...(selective && { selective: risk }),
      ...(counted(remarks) !== '' && { remarks }),
    },
    ...(wanted.length > 0 && {
      bounds: { 'hit@1': wanted.filter(({ reachable }) => reachable).length / wanted.length },
    }),
    sections: [
      { title: 'Stops', lines: [counted(stops)] },
      ...(cut.length === 0 ? [] : [cutSection(cut, rows.length)]),
      ...(asked.length === 0
        ? []
        : [
            {
              title: 'Calls by phase',
              rows: asked.map(([phase, { calls, stages }]) => ({ phase, calls, replies: counted(stages) })),
            },
            ...(counted(remarks) === '' ? [] : [{ title: 'Replies', lines: [counted(remarks)] }]),
            ...(decisions.length > 0 ? [decisionsSection(decisions)] : []),
            {
              title: 'Right within so many calls',
              lines: [points.map(({ calls, hit }) => `${calls}: ${numberText(hit)}`).join('  ')],
              curve: { x: 'calls', y: 'right', points: curve.map(({ calls, hit }): [number, number] => [calls, hit]) },
            },
          ]),
      ...(selective ? [selectiveSection(selective)] : []),
      ...experienceSection(rows),
    ],
  };
}

/** Relations that the endpoint of the graph, or the cap on tails, cut from questions. */
function cutSection(cut: readonly QuestionRow[], asked: number): Section {
  const right = cut.filter(isRight).length;
  return {
    title: 'Cut relations',
    lines: [`${cut.length} of ${asked} questions met relations whose tails were cut; ${right} of these were right`],
  };
}

/** Calls of all questions by phase and by how their replies were read. */
function phasesOf(rows: readonly QuestionRow[]): PhaseCalls {
  const total: PhaseCalls = {};
  for (const { phases } of rows) {
    for (const [phase, { calls, stages }] of Object.entries(phases)) {
      const sum = (total[phase] ??= { calls: 0, stages: {} });
      sum.calls += calls;
      for (const [stage, count] of Object.entries(stages)) sum.stages[stage] = (sum.stages[stage] ?? 0) + count;
    }
  }
  return Object.fromEntries(Object.entries(total).sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** Share of the questions that ended right, and complete, within so many calls; a point for each number of calls that occurs. */
function budgetCurve(rows: readonly QuestionRow[]): { calls: number; hit: number; complete: number }[] {
  const sorted = [...rows].sort((a, b) => a.calls - b.calls);
  const curve: ReturnType<typeof budgetCurve> = [];
  let hit = 0;
  let complete = 0;
  sorted.forEach((row, i) => {
    hit += Number(isRight(row));
    complete += Number((row.metrics.complete ?? row.metrics.accuracy) === 1);
    if (sorted[i + 1]?.calls !== row.calls) {
      curve.push({ calls: row.calls, hit: hit / rows.length, complete: complete / rows.length });
    }
  });
  return curve;
}

/**
 * What each agent found together with IO prompting, `fiske+io`: the `X + IO` rows of FiSKE's table. One row an agent other than IO; none
 * where IO is not among them or nothing asks for entities.
 * @throws WorkbenchError `data` for evaluations of other questions
 */
export function unionFigures(evaluations: readonly Compared<QuestionRow>[], resamples = 2000) {
  const io = evaluations.find(({ record }) => record.agent === 'io');
  if (!io) return [];
  return evaluations.flatMap((one) => {
    if (one === io) return [];
    refuseOtherSamples([one], io);
    const pairs = one.rows.flatMap((row, i) => (row.form === 'entities' ? [[row, io.rows[i]!] as const] : []));
    if (pairs.length === 0) return [];
    const unions = pairs.map(([a, b]) => unionMetrics(a.matchedLenient, b.matchedLenient, a.golds));
    const values = (['partial', 'complete'] as const).map((key) => Float64Array.from(unions, (union) => union[key]));
    const ids = pairs.map(([{ id }]) => id);
    const [partial, complete] = bootstrapMeans(values, ids, { resamples, shares: [true, true] });
    return [{ name: `${one.name}+io`, partial: partial!, complete: complete! }];
  });
}

/** Sections of single evaluations that comparisons show of all agents together. */
/** Title of the section on confidence. */
const selectiveTitle = 'Risk and coverage';

const shownTogether: readonly string[] = [selectiveTitle, decisionsTitle, experienceTitle];

/** Joint results of several agents, and their decisions, as text. */
export function unionShown(evaluations: readonly Compared<QuestionRow>[]) {
  const unions = unionFigures(evaluations);
  const together = shownTogether.map((title) => ({
    title,
    rows: evaluations.flatMap(({ name, record }) =>
      record.sections.flatMap((one) =>
        one.title === title ? (one.rows ?? []).map((row) => ({ agent: name, ...row })) : [],
      ),
    ),
  }));
  const rows = unions.map(({ name, partial, complete }) => ({
    'together with io': name,
    partial: intervalText(partial),
    complete: intervalText(complete),
  }));
  const sections = [{ title: 'Together with IO', rows }, ...together];
  return { json: { unions }, sections: sections.filter((section) => section.rows.length > 0) };
}

type Order = 'confidence' | 'own checks';

/** By the agent's confidence, else by its checks; undefined if neither separates answers. */
function selectiveOf(rows: readonly QuestionRow[]): (RiskCoverage & { by: Order; n: number }) | undefined {
  const by: Order = rows.some(({ confidence }) => confidence !== undefined) ? 'confidence' : 'own checks';
  const answers = rows.map((row) => ({ confidence: sureness(row, by), right: isRight(row) }));
  if (new Set(answers.map(({ confidence }) => confidence)).size < 2) return undefined;
  return { by, n: rows.length, ...riskCoverage(answers) };
}

/** An agent that gives no answer covers nothing: those come last. Answers that a check has passed come before others, fallbacks after. */
function sureness({ abstained, crash, confidence = 0, verified, degraded }: QuestionRow, by: Order): number {
  if (abstained || crash !== undefined) return -1;
  if (by === 'confidence') return confidence;
  return degraded ? 0 : verified ? 2 : 1;
}

/** Without an interval where all are right or all wrong: none can be drawn then. */
const shown = (estimate: Estimate | undefined) =>
  estimate && estimate.low === estimate.high ? numberText(estimate.value) : intervalText(estimate);

/** The same for people: a row, and the curve. */
function selectiveSection(selective: NonNullable<ReturnType<typeof selectiveOf>>): Section {
  const { by, n, aurc, least, accuracy, curve } = selective;
  const row: NonNullable<Section['rows']>[number] = {
    by,
    n,
    'AURC, %': shown(aurc),
    'least, %': (100 * least).toFixed(1),
    ...Object.fromEntries(coverages.map((at) => [`right at ${at} %`, shown(accuracy[at])])),
  };
  const points = curve.map(([coverage, value]): [number, number] => [Math.round(100 * coverage), value]);
  return {
    title: selectiveTitle,
    rows: [row],
    curve: {
      ...{ x: 'coverage, %', y: 'right among the surest', points, smooth: true },
      caption:
        'Right among the answers that an agent is surest of, by the share of questions that it answers. Sure is by its confidence, where it has none by its own checks: verified before others, fallbacks after them; where it gives no answer comes last. A line that falls says that the agent knows what it does not know.',
    },
  };
}
