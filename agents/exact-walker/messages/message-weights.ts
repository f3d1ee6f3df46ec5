/** Sizes, first weights and shares of edges of the network in `message-network.ts`. */
import type { Graph } from '../../../src/kg/graph.js';
import { Rng } from '../../../src/run/seeds.js';
import { type HostTensor, uniformFanIn } from '../../../src/tensor/parameters.js';

/** Channels of a message. */
export const d = 16;
/** Numbers of a relation that is asked for. */
export const relationDim = 32;
/** Units of the last layer. */
export const hidden = 16;
/** Numbers of φ. */
export const features = 3;
/** Inputs of the last layer. */
const headInputs = 2 * d + features;

/** Shares of each edge: one over the edges of its relation at its head, and the same of the edge that goes back. */
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

/** Weights that a network begins with, drawn by the seed. */
export function messageWeights(numRelations: number, hops: number, seed: number): Record<string, HostTensor> {
  const tensor = (name: string, shape: number[], fanIn: number): [string, HostTensor] => {
    const size = shape.reduce((all, one) => all * one, 1);
    return [name, { shape, data: uniformFanIn(Rng.named(seed, `messages/${name}`), fanIn, size) }];
  };
  const constant = (name: string, shape: number[], value: number): [string, HostTensor] => {
    return [name, { shape, data: new Float32Array(shape.reduce((all, one) => all * one, 1)).fill(value) }];
  };
  return Object.fromEntries([
    tensor('asked', [numRelations, relationDim], 1),
    constant('start', [numRelations, d], 1),
    ...Array.from({ length: hops }, (_, hop) => [
      tensor(`A.${hop}`, [numRelations, d, relationDim], 32 * relationDim),
      tensor(`B.${hop}`, [numRelations, d], 4),
    ]).flat(),
    ...Array.from({ length: hops - 1 }, (_, hop) => [
      tensor(`W.${hop}`, [2 * d, d], 2 * d),
      constant(`bias.${hop}`, [d], 0),
    ]).flat(),
    constant('direct', [numRelations, features], 0.5),
    tensor('V', [headInputs, hidden], headInputs),
    tensor('V.asked', [relationDim, hidden], relationDim),
    tensor('u', [hidden], hidden),
  ]);
}
