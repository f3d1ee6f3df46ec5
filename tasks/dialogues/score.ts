/** Figures of dialogues: paths and targets at k, strict and on request as LLM-ARK's reference counts. */
import type { Answer } from '../../agents/agent.js';
import { dialogueAgents } from '../../agents/dialogue-agents.js';
import type { DialogueTraining } from '../../agents/dialogue-walker/train.js';
import { batchAsker } from '../../evaluation/ask.js';
import type { WalkSample } from '../../datasets/walk-sample.js';
import type { WalkGraph } from '../../envs/dialogue-walk/walk-graph.js';
import { countsOf, curveOf } from '../../evaluation/evaluate.js';
import { replyFigures, replyValue } from '../../evaluation/replies.js';
import type { Attempt, Measure, Scorer } from '../../evaluation/score.js';
import { copiedFigure } from '../../evaluation/watch-decisions.js';
import type { Graph, Path } from '../../src/kg/graph.js';
import { hitAtK, reciprocalRank } from '../../src/metrics/ranks.js';
import type { Example, Section } from '../../src/run/evaluation.js';
import { type Figure, numberText } from '../../src/run/figures.js';
import { calibrationSections } from './calibration.js';
import {
  dialogueArrow,
  dialogueRow,
  type DialogueRow,
  missReasons,
  type RowContext,
  rowOf,
  seenEntities,
} from './row.js';

/**
 * Each counted rank by the name that it has in keys such as `entity-path@5`, with its title. Paths are ranked as they are written; targets are the
 * ends of all walks that the agent scored, written or not, up to as many ends as the beam is wide.
 */
const ranks: Record<string, { of: (row: DialogueRow) => number | undefined; title: string }> = {
  path: { of: ({ path }) => path, title: 'path' },
  'entity-path': { of: ({ entityPath }) => entityPath, title: 'path of entities' },
  'relation-path': { of: ({ relationPath }) => relationPath, title: 'path of relations' },
  target: { of: ({ target }) => target, title: 'target' },
  'target-sum': { of: ({ summedTarget }) => summedTarget, title: 'target by summed walks' },
  // As LLM-ARK's reference counts them.
  'ark-path': { of: ({ ark }) => ark?.path, title: 'path, ark' },
  'ark-target': { of: ({ ark }) => ark?.target, title: 'target, ark' },
  'target-any': { of: ({ ark }) => ark?.anyTarget, title: 'last target, ark' },
};

/** Mean −ln of the probability of the gold among all legal walks: it separates walkers where path@1 cannot yet. */
const nll: Figure = { key: 'nll', title: 'NLL', unit: 'number', better: 'low', place: 'main', tested: true };

/** Figures of dialogues, in the order of tables. @param ks of path@k and its kin */
export function dialogueFigures(ks: readonly number[], withArk = false): Figure[] {
  const shown = new Set([ks[0], ks[Math.floor(ks.length / 2)], ks.at(-1)]);
  const names = Object.keys(ranks).filter((name) => withArk || !/^ark-|-any$/.test(name));
  const atK = names.flatMap((name) =>
    ks.map((k): Figure => {
      const main = name === 'path' || name === 'target' ? shown.has(k) : name.endsWith('-path') && k === ks[0];
      const place = main || (name === 'ark-target' && k === ks[0]) ? 'main' : undefined;
      const key = `${name}@${k}`;
      return { key, title: `${ranks[name]!.title}@${k}`, unit: '%', better: 'high', tested: true, place };
    }),
  );
  return [
    ...atK,
    { key: 'mrr', title: 'MRR of paths', unit: '%', better: 'high', place: 'main', tested: true },
    { key: 'target-mrr', title: 'MRR of targets', unit: '%', better: 'high', tested: true },
    nll,
    copiedFigure,
    ...replyFigures,
  ];
}

/** Figures of learning curves, of those that are counted; the first chooses the best checkpoint. */
export const dialogueCurve = ['path@1', 'path@5', 'path@25', 'target@1', 'target@25', 'mrr'];

/** Whole dialogues are drawn: the samples of one share its words. */
export const dialogueMeasure: Measure<DialogueRow> = {
  row: dialogueRow,
  valueOf(key) {
    if (key === 'mrr') return ({ path }) => reciprocalRank(path);
    if (key === 'target-mrr') return ({ target }) => reciprocalRank(target);
    if (key === nll.key) return ({ goldLogProb }) => goldLogProb && 0 - goldLogProb;
    if (key === copiedFigure.key) return ({ copied }) => copied;
    const ofReplies = replyValue(key);
    if (ofReplies) return ({ cost: { calls = 0 }, replies }) => ofReplies({ cut: 0, unreadable: 0, ...replies, calls });
    const [name, k] = key.split('@') as [string, string | undefined];
    const rank = ranks[name];
    if (!rank || k === undefined) throw new TypeError(`expected a figure of dialogues, got ${key}`);
    return (row) => {
      const at = rank.of(row);
      return at === undefined ? undefined : hitAtK(at, Number(k));
    };
  },
  ...{ clusters: 'dialogues', samples: 'samples' },
  cluster: ({ dialogue }) => dialogue,
  slices: {
    hops: ({ hops }) => String(hops),
    sender: ({ sender }) => sender,
    target: ({ seen }) => (seen ? 'seen' : 'unseen'),
    path: ({ first }) => (first ? 'first' : 'later'),
  },
  costOf: ({ cost }) => cost,
  arrow: dialogueArrow,
  spends: (agent) => dialogueAgents.spends(agent),
};

interface DialogueScoring extends Omit<RowContext, 'walked'> {
  /** The edges that the agent may walk. */
  walks: WalkGraph;
  ks: readonly number[];
  samples: readonly WalkSample[];
  /** Most edges of a walk, for the upper bound. */
  horizon: number;
}

export function dialogueScorer(scoring: DialogueScoring): Scorer<WalkSample, Answer, DialogueRow> {
  const { graph, walks, ks, withArk, samples, horizon } = scoring;
  const context = { ...scoring, walked: walks.graph };
  return {
    measure: dialogueMeasure,
    figures: dialogueFigures(ks, withArk),
    missReasons: missReasons.filter((reason) => walks.selection || reason !== 'gold-edge-cut'),
    rowOf: (sample, attempt) => rowOf(sample, attempt, context),
    exampleOf: (sample, attempt, row) => exampleOf(sample, attempt, row, graph),
    summary: (rows) => {
      const coverage = coverageOf(scoring);
      const labels = calibrationSections({ rows, samples, graph });
      return {
        ...coverage,
        details: { ...coverage.details, ...labels.details },
        sections: [...coverage.sections, ...likelihoodOf(rows, horizon), ...labels.sections],
      };
    },
  };
}

/** Share of a split, of at least one sample, that any agent can answer. */
function coverageOf({ samples, walks: { graph, selection }, horizon, ks }: DialogueScoring) {
  const share = (test: (sample: WalkSample) => boolean) => samples.filter(test).length / samples.length;
  const coverage = {
    goldInGraph: share(({ gold }) => gold.inGraph),
    startHasEdges: share(({ task }) => graph.degree(task.start) > 0),
    ...(selection && { goldWalkable: share(({ gold }) => graph.holds(gold.path)) }),
    reachable: share(({ gold }) => gold.inGraph && graph.holds(gold.path) && gold.path.length <= horizon),
    meanActions: samples.reduce((sum, { task }) => sum + graph.degree(task.start), 0) / samples.length,
  };
  const percent = (value: number) => `${numberText(value)} %`;
  const lines = [
    `gold in graph ${percent(coverage.goldInGraph)}, start has edges ${percent(coverage.startHasEdges)}, upper bound ${percent(coverage.reachable)}, actions at the start ${coverage.meanActions.toFixed(1)} on average`,
  ];
  if (selection) {
    const { policy, maxOut, kept, edges, entitiesCut } = selection;
    lines.push(
      `edges ${policy}, at most ${maxOut} actions a state: gold left ${percent(coverage.goldWalkable ?? 0)}, ${kept} of ${edges} edges, ${entitiesCut} entities cut`,
    );
  }
  return {
    details: { coverage, ...(selection && { edges: selection }) },
    sections: [{ title: 'What can be answered', lines }],
    bounds: Object.fromEntries(ks.map((k) => [`path@${k}`, coverage.reachable])),
  };
}

/** Over how many golds NLL is, and why the others are not in it; nothing of agents that are no distribution over walks. */
function likelihoodOf(rows: readonly DialogueRow[], horizon: number): Section[] {
  const judged = rows.filter(({ goldLogProb }) => goldLogProb !== undefined);
  if (judged.length === 0) return [];
  const left = rows.filter(({ goldLogProb }) => goldLogProb === undefined);
  const reasons = countsOf(
    left.map(({ hops, miss }) => (hops > horizon ? `longer than ${horizon} hops` : (miss ?? 'not asked'))),
  );
  const others = Object.entries(reasons).map(([reason, count]) => `${count} ${reason}`);
  const line = `NLL is over ${judged.length} of ${rows.length} golds`;
  return [
    { title: 'Likelihood of the golds', lines: [others.length > 0 ? `${line}; not over ${others.join(', ')}` : line] },
  ];
}

/** Names of a path's triples; `?` for what the graph lacks. */
export function namedPath(path: Path, graph: Graph): [string, string, string][] {
  return path.map(([head, relation, tail]) => [
    graph.entityNames[head] ?? '?',
    graph.relationNames[relation] ?? '?',
    graph.entityNames[tail] ?? '?',
  ]);
}

const shownWalks = 5;

/** Messages, gold path, ranked paths and the first wrong step; undefined if nothing was ranked. */
function exampleOf(
  { task, gold }: WalkSample,
  { answer }: Attempt<Answer>,
  { path: rank }: DialogueRow,
  graph: Graph,
): Example | undefined {
  const paths = answer?.paths.slice(0, shownWalks) ?? [];
  if (paths.length === 0) return undefined;
  const best = paths[0]!.path;
  const hops = Math.max(best.length, gold.path.length);
  let wrong = 0;
  while (wrong < hops && String(best[wrong]) === String(gold.path[wrong])) wrong++;
  return {
    id: task.id,
    asked: [
      ...task.messages.map(({ sender, text }) => `${sender}: ${text}`),
      `${task.sender}, from ${task.startName}: …`,
    ],
    gold: [walkText(namedPath(gold.path, graph), task.startName)],
    answers: paths.map(({ path, logProb }, i) => ({
      text: walkText(namedPath(path, graph), task.startName),
      score: `${numberText(Math.exp(logProb))} %`,
      right: i + 1 === rank,
    })),
    right: rank === 1,
    ...(wrong < hops && { firstWrongHop: wrong, lines: [`first wrong hop: ${wrong + 1}`] }),
    walks: paths.map(({ path }) => namedPath(path, graph)),
    goldWalk: namedPath(gold.path, graph),
  };
}

/** A walk in one line: `Inception —directed by→ Christopher Nolan`. */
export function walkText(path: readonly (readonly [string, string, string])[], start: string): string {
  return path.reduce((text, [, relation, tail]) => `${text} —${relation}→ ${tail}`, start);
}

/** Scores a walker in training on samples of valid by beam search: the figures of learning curves, under `eval/`. */
export const evaluateOnValid: DialogueTraining['evaluate'] = (agent, run, samples) => {
  const { settings, graph, walks, train, progress, signal } = run;
  const { beamWidth, ks, batchSize } = settings.evaluation;
  const { horizon } = settings.env;
  const line = progress('evaluate on valid', samples.length, 'samples');
  const asker = batchAsker(agent, { batchSize, canAsk: ({ start }) => graph.degree(start) > 0 });
  const seenTargets = seenEntities(train);
  const scorer = dialogueScorer({ graph, walks, ks, beamWidth, samples, seenTargets, withArk: false, horizon });
  return curveOf(asker, samples, scorer, dialogueCurve, { line, signal });
};
