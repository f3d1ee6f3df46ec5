/** Sizes, initial weights and edge shares of `message-layers.ts` and `message-network.ts`. */
import type { Graph } from '../../../src/kg/graph.js';
import { Rng } from '../../../src/run/seeds.js';
import { type HostTensor, uniformFanIn } from '../../../src/nn/parameters.js';

/** Sizes of a network. */
export interface MessageSizes {
  hops: number;
  /** Numbers of a message and units of the last layer: a multiple of 16. */
  channels: number;
  /** Whether entities read the maximum of what arrives beside the sum. */
  maximum: boolean;
}

/** Width of the query relation's vector z. */
export const relationDim = 32;
/** Width of φ. */
export const features = 3;

/** Shares of each edge: 1 / number of edges of its relation at its head, and the same for the reverse edge. */
export function fillShares(graph: Graph, forth: Float32Array, back: Float32Array): void {
  const { offsets, relations, tails, inverseOf, numEntities } = graph;
  for (let head = 0; head < numEntities; head++) {
    for (let begin = offsets[head]!, end = begin; begin < offsets[head + 1]!; begin = end) {
      while (end < offsets[head + 1]! && relations[end] === relations[begin]) end++;
      forth.fill(1 / (end - begin), begin, end);
    }
  }
  for (let head = 0; head < numEntities; head++) {
    for (let edge = offsets[head]!; edge < offsets[head + 1]!; edge++) {
      back[edge] = forth[graph.edgeIndex(tails[edge]!, inverseOf[relations[edge]!]!, head)]!;
    }
  }
}

type Start = { fanIn: number } | { constant: number };

/** True if a tensor has a row per relation. */
export const ofRelations = (name: string): boolean =>
  ['asked', 'start', 'direct', 'A', 'B'].includes(name.split('.')[0]!);

/** All tensors: name, shape (whole, or of a relation's row), initialisation. */
function layout({ hops, channels: d, maximum }: MessageSizes): [name: string, shape: number[], start: Start][] {
  const inputs = maximum ? 3 * d : 2 * d;
  const ofHops = (count: number, of: (hop: number) => [string, number[], Start][]) =>
    Array.from({ length: count }, (_, hop) => of(hop)).flat();
  return [
    ['asked', [relationDim], { fanIn: 1 }],
    ['start', [d], { constant: 1 }],
    ...ofHops(hops, (hop) => [
      [`A.${hop}`, [d, relationDim], { fanIn: 32 * relationDim }],
      [`B.${hop}`, [d], { fanIn: 4 }],
    ]),
    ...ofHops(hops - 1, (hop) => [
      [`W.${hop}`, [inputs, d], { fanIn: inputs }],
      [`bias.${hop}`, [d], { constant: 0 }],
    ]),
    ['direct', [features], { constant: 0.5 }],
    ['V', [inputs + features, d], { fanIn: inputs + features }],
    ['V.asked', [relationDim, d], { fanIn: relationDim }],
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
