/** Sizes, initial weights and edge shares of `message-layers.ts` and `message-network.ts`. */
import type { Graph } from '../../../src/kg/graph.js';
import { Rng } from '../../../src/run/seeds.js';
import { meetings } from './relation-graph.js';
import { type HostTensor, uniformFanIn } from '../../../src/nn/parameters.js';

/** Sizes of a network. */
export interface MessageSizes {
  hops: number;
  /** Numbers of a message and units of the last layer: a multiple of 16. */
  channels: number;
  /** True if entities read the maximum of what arrives, next to the sum. */
  maximum: boolean;
  /** Source of relation vectors; `names` computes those of `own`. */
  relations: 'own' | 'names' | 'graph';
}

/** Width of the query relation's vector z. */
export const relationDim = 32;
/** Layers over the graph of relations. */
export const relationHops = 3;
/** Width of φ. */
export const features = 3;

/** Share of each edge: 1 / number of edges of its relation at its head. */
export function fillShares({ offsets, relations, numEntities }: Graph, shares: Float32Array): void {
  for (let head = 0; head < numEntities; head++) {
    for (let begin = offsets[head]!, end = begin; begin < offsets[head + 1]!; begin = end) {
      while (end < offsets[head + 1]! && relations[end] === relations[begin]) end++;
      shares.fill(1 / (end - begin), begin, end);
    }
  }
}

/** Share of the reverse of each edge. */
export function fillReverseShares(graph: Graph, shares: Float32Array): void {
  const { offsets, relations, tails, inverseOf, numEntities } = graph;
  const forth = new Float32Array(shares.length);
  fillShares(graph, forth);
  for (let head = 0; head < numEntities; head++) {
    for (let edge = offsets[head]!; edge < offsets[head + 1]!; edge++) {
      shares[edge] = forth[graph.edgeIndex(tails[edge]!, inverseOf[relations[edge]!]!, head)]!;
    }
  }
}

type Start = { fanIn: number } | { constant: number };

/** True if a tensor has a row per relation. */
export const ofRelations = (name: string): boolean =>
  ['asked', 'start', 'direct', 'A', 'B'].includes(name.split('.')[0]!);

type Layout = [name: string, shape: number[], start: Start][];

const ofHops = (count: number, of: (hop: number) => Layout): Layout =>
  Array.from({ length: count }, (_, hop) => of(hop)).flat();

const layers = (count: number, inputs: number, d: number, prefix = ''): Layout =>
  ofHops(count, (hop) => [
    [`${prefix}W.${hop}`, [inputs, d], { fanIn: inputs }],
    [`${prefix}bias.${hop}`, [d], { constant: 0 }],
  ]);

/** All tensors: name, shape (whole, or of a relation's row), initialisation. */
function layout({ hops, channels: d, maximum, relations }: MessageSizes): Layout {
  const inputs = maximum ? 3 * d : 2 * d;
  const ofEachRelation: Layout = [
    ['asked', [relationDim], { fanIn: 1 }],
    ['start', [d], { constant: 1 }],
    ...ofHops(hops, (hop) => [
      [`A.${hop}`, [d, relationDim], { fanIn: 32 * relationDim }],
      [`B.${hop}`, [d], { fanIn: 4 }],
    ]),
    ['direct', [features], { constant: 0.5 }],
    ['V.asked', [relationDim, d], { fanIn: relationDim }],
  ];
  const ofMeetings: Layout = [
    ['relations.start', [d], { constant: 1 }],
    ...ofHops(relationHops, (hop) => [[`relations.kinds.${hop}`, [meetings.length, d], { fanIn: 4 }]]),
    ...layers(relationHops, inputs, d, 'relations.'),
    ...ofHops(hops, (hop) => [[`map.w.${hop}`, [d + 1, d], { fanIn: d }]]),
    ['map.start', [d + 1, d], { fanIn: d }],
    ['map.direct', [d + 1, features], { fanIn: d }],
    ['map.bias', [d + 1, d], { fanIn: d }],
  ];
  return [
    ...(relations === 'graph' ? ofMeetings : ofEachRelation),
    ...layers(hops - 1, inputs, d),
    ['V', [inputs + features, d], { fanIn: inputs + features }],
    ['u', [d], { fanIn: d }],
  ];
}

const sizeOf = (shape: readonly number[]) => shape.reduce((all, one) => all * one, 1);

function drawn(name: string, shape: number[], start: Start, seed: number): HostTensor {
  const size = sizeOf(shape);
  if ('constant' in start) return { shape, data: new Float32Array(size).fill(start.constant) };
  return { shape, data: uniformFanIn(Rng.named(seed, `messages/${name}`), start.fanIn, size) };
}

/** Seeded initial weights. */
export function messageWeights(numRelations: number, sizes: MessageSizes, seed: number): Record<string, HostTensor> {
  return Object.fromEntries(
    layout(sizes).map(([name, shape, start]) => [
      name,
      drawn(name, ofRelations(name) ? [numRelations, ...shape] : shape, start, seed),
    ]),
  );
}

/** Initial weights if relation weights are computed from `inputs` features: each is replaced by two matrices, [2, inputs, row size]. */
export function namedWeights(inputs: number, sizes: MessageSizes, seed: number): Record<string, HostTensor> {
  return Object.fromEntries(
    layout(sizes).map(([name, row, start]) => {
      if (!ofRelations(name)) return [name, drawn(name, row, start, seed)];
      const shape = [2, inputs, ...row];
      if ('fanIn' in start) return [name, drawn(name, shape, start, seed)];
      // Only the constant input is nonzero: all relations start equal.
      const data = new Float32Array(sizeOf(shape));
      const width = sizeOf(row);
      for (const direction of [1, 2])
        data.fill(start.constant, (direction * inputs - 1) * width, direction * inputs * width);
      return [name, { shape, data }];
    }),
  );
}
