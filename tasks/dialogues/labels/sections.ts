/** What an evaluation of a walker tells of the labels: calibration, where the misses are, and agreement with other annotators. */
import type { WalkSample } from '../../../datasets/walk-sample.js';
import type { Graph } from '../../../src/kg/graph.js';
import { calibrationOf } from '../../../src/metrics/calibration.js';
import type { Section } from '../../../src/run/evaluation.js';
import { numberText } from '../../../src/run/figures.js';
import type { DialogueRow } from '../row.js';
import { agreementSection, rowAgreement } from './agreement.js';
import { type KnownPart, knownParts } from './told.js';

/** Rows of a walker, with what they are of. */
export interface LabelledRows {
  rows: readonly DialogueRow[];
  samples: readonly WalkSample[];
  /** What the walker may have learned from. */
  train: readonly WalkSample[];
  graph: Graph;
}

/**
 * For programs and for people; nothing of agents that are no distribution over walks. Of the others every row counts: a gold that cannot
 * be walked and a turn that nobody answered are misses, as they are of path@1.
 */
export function labelsOf(labelled: LabelledRows): { details: Record<string, unknown>; sections: Section[] } {
  const { rows } = labelled;
  if (!rows.some(({ told }) => told)) return { details: {}, sections: [] };
  const calibration = calibrationOf(
    rows.map(({ logProb, path }) => ({
      probability: Number.isNaN(logProb) ? 0 : Math.exp(logProb),
      right: path === 1,
    })),
  );
  const known = knownOf(rows);
  const fanOut = fanOutOf(labelled);
  const agreement = rowAgreement(rows, labelled);
  return {
    details: { calibration, known, fanOut, ...(agreement && { agreement }) },
    sections: [
      calibrationSection(calibration),
      { title: 'First paths if part of the gold were known', rows: known.map((one) => knownRow(one, rows.length)) },
      ...(fanOut.length > 0
        ? [{ title: 'One-hop golds by tails of their start and relation', rows: fanOut.map(fanOutRow) }]
        : []),
      ...(agreement ? [agreementSection('Agreement where the same was said', agreement)] : []),
    ],
  };
}

function calibrationSection({ n, said, right, ece, bins }: ReturnType<typeof calibrationOf>): Section {
  return {
    title: 'Calibration of the first path',
    lines: [
      `over ${n} turns: given ${numberText(said)} % on average, right ${numberText(right)} %, calibration error ${numberText(ece)} % over ${bins.length} bins`,
    ],
    curve: {
      ...{ x: 'probability of the first path, %', y: 'right', smooth: true },
      points: bins.map(({ from, to, right }): [number, number] => [Math.round(50 * (from + to)), right]),
      caption:
        'Right first paths by the probability that the walker gives them, in bins of ten points: right at 25 % where it says 20 to 30 is a walker that can be believed.',
    },
  };
}

/** How often the first path is right if a part of the gold is known, and how often it has that part right by itself. */
function knownOf(rows: readonly DialogueRow[]) {
  const share = (test: (row: DialogueRow) => boolean) => rows.filter(test).length / rows.length;
  return [
    { known: 'nothing' as const, right: share(({ path }) => path === 1) },
    ...knownParts.map((part) => ({
      known: part,
      right: share(({ told }) => told?.ranks[part] === 1),
      alone: share(({ told }) => told?.first.includes(part) ?? false),
    })),
  ];
}

const partNames: Record<KnownPart | 'nothing', string> = {
  nothing: 'nothing',
  hops: 'number of hops',
  relation: 'first relation',
  relations: 'all relations',
  edge: 'first edge',
  target: 'target',
};

const knownRow = (
  { known, right, alone }: { known: KnownPart | 'nothing'; right: number; alone?: number },
  n: number,
) => ({
  ...{ known: partNames[known], n },
  'first path right, %': numberText(right),
  'right by itself, %': alone === undefined ? undefined : numberText(alone),
});

/** The last group of fan-outs holds all from 2 to the power of this. */
const mostPower = 6;

/** One-hop golds of the graph by how many tails their start has by their relation, in powers of two. */
function fanOutOf({ rows, samples, graph }: LabelledRows) {
  const sampleOf = new Map(samples.map((sample) => [sample.task.id, sample]));
  const groups = new Map<number, DialogueRow[]>();
  for (const row of rows) {
    const { path, inGraph } = sampleOf.get(row.id)!.gold;
    if (path.length !== 1 || !inGraph) continue;
    const tails = tailsOf(graph, path[0]![0], path[0]![1]);
    const power = Math.min(mostPower, Math.floor(Math.log2(tails)));
    groups.set(power, [...(groups.get(power) ?? []), row]);
  }
  return [...groups]
    .sort(([a], [b]) => a - b)
    .map(([power, own]) => ({
      from: 2 ** power,
      to: power < mostPower ? 2 ** (power + 1) - 1 : null,
      n: own.length,
      right: own.filter(({ path }) => path === 1).length / own.length,
      known: own.filter(({ told }) => told?.ranks.relations === 1).length / own.length,
    }));
}

function tailsOf(graph: Graph, head: number, relation: number): number {
  return graph.relations.subarray(graph.offsets[head], graph.offsets[head + 1]).filter((one) => one === relation)
    .length;
}

const fanOutRow = ({ from, to, n, right, known }: ReturnType<typeof fanOutOf>[number]) => ({
  tails: from === to ? String(from) : to === null ? `${from} and more` : `${from} to ${to}`,
  n,
  'first path right, %': numberText(right),
  'relation known, %': numberText(known),
});
