/** States of walks as vectors: what was walked (its mean, a GRU or an LSTM), where the walk stands, and what is asked. */
import { Rng } from '../../src/run/seeds.js';
import type { HostTensor } from '../../src/nn/parameters.js';
import { type CellState, Recurrent, recurrentStarts } from '../../src/nn/recurrent.js';
import type { Tape, Taped } from '../../src/nn/tape.js';
import type { LinkRequest } from './request.js';
import type { LinkWalkerSettings } from './settings.js';
import type { VectorTables } from './vectors.js';

/** States from vectors and, with a GRU or an LSTM, trained weights. */
export class StateNetwork {
  readonly dim: number;
  readonly initialValues: Record<string, HostTensor>;
  readonly #pathDim: number;

  /** @param seed of the weights; zeros without it */
  constructor(
    readonly parts: {
      settings: Pick<LinkWalkerSettings, 'pathEncoder' | 'pathDim'>;
      vectors: VectorTables;
      numEntities: number;
      numRelations: number;
    },
    seed?: number,
  ) {
    const { settings, vectors } = parts;
    const { pathEncoder: cell, pathDim } = settings;
    this.#pathDim = cell === 'mean' ? vectors.edgeDim : pathDim;
    this.dim = this.#pathDim + vectors.edgeDim;
    this.initialValues =
      cell === 'mean'
        ? {}
        : recurrentStarts(
            { cell, name: 'path', inputs: vectors.edgeDim, dim: pathDim },
            seed === undefined ? undefined : (weights) => Rng.named(seed, `link-walker/${weights}`),
          );
  }

  /** [requests, dim] = [path ; query relation ; current entity, where entities have vectors]. */
  states(tape: Tape, requests: readonly LinkRequest[]): Taped {
    const { vectors, numEntities, numRelations } = this.parts;
    const { levels, nodes } = prefixesOf(requests, { numEntities, noStep: numRelations + 1 });
    const steps = levels.map(({ relations, entities }) => vectors.rows(tape, relations, entities));
    const asked = Int32Array.from(requests, ({ relation }) => relation);
    const current = Int32Array.from(requests, (request) => request.current);
    return tape.concat([tape.rows(this.#paths(tape, steps, levels), nodes), vectors.rows(tape, asked, current)]);
  }

  /** [nodes of all levels, path width]. @param steps of each level, [nodes, edgeDim] */
  #paths(tape: Tape, steps: readonly Taped[], levels: Prefixes['levels']): Taped {
    const { pathEncoder: cell } = this.parts.settings;
    const outputs: Taped[] = [];
    if (cell === 'mean') {
      let sum: Taped | undefined;
      levels.forEach(({ parents }, depth) => {
        sum = sum ? tape.add(tape.rows(sum, parents), steps[depth]!) : steps[depth]!;
        outputs.push(depth === 0 ? sum : tape.scaled(sum, 1 / (depth + 1)));
      });
      return tape.stack(outputs);
    }
    const layer = new Recurrent(tape, cell, 'path', this.#pathDim);
    let state: CellState | undefined;
    levels.forEach(({ parents }, depth) => {
      const before = state ? state.map((rows) => tape.rows(rows, parents)) : layer.start(steps[depth]!.rows);
      state = layer.step(layer.given(steps[depth]!), before);
      outputs.push(state[0]!);
    });
    return tape.stack(outputs);
  }
}

/** The nodes of one depth, which stand one after another in the order of first use. */
interface PrefixLevel {
  /** int32 [nodes]: place of the walk without its last step among the nodes of the level above; empty at the first level. */
  parents: Int32Array;
  /** int32 [nodes]: relation of the last step; at the first level the row of "no step yet". */
  relations: Int32Array;
  /** int32 [nodes]: entity that it leads to; at the first level the head. */
  entities: Int32Array;
}

interface Prefixes {
  /** By steps taken; one more than the longest walk has. */
  levels: PrefixLevel[];
  /** int32 [states]: the node of each state's walk, counted over all levels in their order. */
  nodes: Int32Array;
}

type OpenLevel = { nodeOf: Map<number, number>; parents: number[]; relations: number[]; entities: number[] };

/** @param sizes of the tables: `noStep` is the row of relations that stands at the first level */
export function prefixesOf(
  requests: readonly Pick<LinkRequest, 'head' | 'hop' | 'path'>[],
  sizes: { numEntities: number; noStep: number },
): Prefixes {
  const { numEntities, noStep } = sizes;
  const levels: OpenLevel[] = [];
  const nodeAt = (depth: number, parent: number, relation: number, entity: number) => {
    const level = (levels[depth] ??= { nodeOf: new Map(), parents: [], relations: [], entities: [] });
    // Below 2^53: a million parents, relations of thousands and entities of millions.
    const key = (parent * (noStep + 1) + relation) * numEntities + entity;
    let node = level.nodeOf.get(key);
    if (node === undefined) {
      level.nodeOf.set(key, (node = level.nodeOf.size));
      level.parents.push(parent);
      level.relations.push(relation);
      level.entities.push(entity);
    }
    return node;
  };
  const indices = Int32Array.from(requests, ({ head, hop, path }) => {
    let node = nodeAt(0, 0, noStep, head);
    for (let step = 0; step < hop; step++) node = nodeAt(step + 1, node, path[2 * step]!, path[2 * step + 1]!);
    return node;
  });
  const begins: number[] = [];
  let count = 0;
  for (const { entities } of levels) {
    begins.push(count);
    count += entities.length;
  }
  return {
    levels: levels.map(({ parents, relations, entities }, depth) => ({
      parents: Int32Array.from(depth === 0 ? [] : parents),
      relations: Int32Array.from(relations),
      entities: Int32Array.from(entities),
    })),
    nodes: indices.map((index, i) => begins[requests[i]!.hop]! + index),
  };
}
