/** Calibration of a walker's first paths, and tables of which part of a gold path is missed. */
import type { WalkSample } from '../../datasets/walk-sample.js';
import type { Graph } from '../../src/kg/graph.js';
import { calibrationOf } from '../../src/metrics/selective.js';
import type { Section } from '../../src/run/evaluation.js';
import { numberText } from '../../src/run/figures.js';
import { type DialogueRow, type GoldPart, goldParts } from './row.js';

type CalibratedRows = { rows: readonly DialogueRow[]; samples: readonly WalkSample[]; graph: Graph };

/**
 * Details and sections for a record; empty for agents without a distribution over walks. Every row counts: a gold path that cannot be
 * walked and a failed turn are misses, as in path@1.
 */
export function calibrationSections(calibrated: CalibratedRows): {
  details: Record<string, unknown>;
  sections: Section[];
} {
  const { rows } = calibrated;
  if (!rows.some(({ told }) => told)) return { details: {}, sections: [] };
  const calibration = calibrationOf(
    rows.map(({ logProb, path }) => ({
      probability: Number.isNaN(logProb) ? 0 : Math.exp(logProb),
      right: path === 1,
    })),
  );
  const known = knownOf(rows);
  const fanOut = fanOutOf(calibrated);
  return {
    details: { calibration, known, fanOut },
    sections: [
      calibrationSection(calibration),
      { title: 'First paths if part of the gold were known', rows: known.map((one) => knownRow(one, rows.length)) },
      ...(fanOut.length > 0
        ? [{ title: 'One-hop golds by tails of their start and relation', rows: fanOut.map(fanOutRow) }]
        : []),
    ],
  };
}

const calibrationSection = ({ n, said, right, ece, bins }: ReturnType<typeof calibrationOf>): Section => ({
  title: 'Calibration of the first path',
  lines: [
    `over ${n} turns: given ${numberText(said)} % on average, right ${numberText(right)} %, calibration error ${numberText(ece)} % over ${bins.length} bins`,
  ],
  curve: {
    ...{ x: 'probability of the first path, %', y: 'right', smooth: true },
    points: bins.map(({ from, to, right }): [number, number] => [Math.round(50 * (from + to)), right]),
    caption:
      'Right first paths by the probability that the walker gives them, in bins of ten points: a calibrated walker is right 25 % of the time at 20 to 30.',
  },
});

/** Share of right first paths if a part of the gold path is given, and share of first paths that have this part right. */
function knownOf(rows: readonly DialogueRow[]) {
  const share = (test: (row: DialogueRow) => boolean) => rows.filter(test).length / rows.length;
  return [
    { known: 'nothing' as const, right: share(({ path }) => path === 1) },
    ...goldParts.map((part) => ({
      known: part,
      right: share(({ told }) => told?.ranks[part] === 1),
      alone: share(({ told }) => told?.first.includes(part) ?? false),
    })),
  ];
}

const partNames: Record<GoldPart | 'nothing', string> = {
  nothing: 'nothing',
  hops: 'number of hops',
  relation: 'first relation',
  relations: 'all relations',
  edge: 'first edge',
  target: 'target',
};

const knownRow = (
  { known, right, alone }: { known: GoldPart | 'nothing'; right: number; alone?: number },
  n: number,
) => ({
  ...{ known: partNames[known], n },
  'first path right, %': numberText(right),
  'right by itself, %': alone === undefined ? undefined : numberText(alone),
});

/** The last group of fan-outs holds all from 2 to the power of this. */
const mostPower = 6;

/** One-hop golds of the graph by how many tails their start has by their relation, in powers of two. */
function fanOutOf({ rows, samples, graph }: CalibratedRows) {
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

const tailsOf = (graph: Graph, head: number, relation: number): number =>
  graph.relations.subarray(graph.offsets[head], graph.offsets[head + 1]).filter((one) => one === relation).length;

const fanOutRow = ({ from, to, n, right, known }: ReturnType<typeof fanOutOf>[number]) => ({
  tails: from === to ? String(from) : to === null ? `${from} and more` : `${from} to ${to}`,
  n,
  'first path right, %': numberText(right),
  'relation known, %': numberText(known),
});
