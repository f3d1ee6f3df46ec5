/**
 * The walker of link queries on the host, for paths that are means of their steps: the networks of `link-walker.ts`, by the same
 * names, starts and shapes, so that a checkpoint of one loads into the other. Small ones are several times as fast here as
 * by a tensor library.
 */
import { WorkbenchError } from '../../src/run/errors.js';
import { Rng } from '../../src/run/seeds.js';
import { Arena } from '../../src/simd/arena.js';
import { openKernels } from '../../src/simd/kernels.js';
import { denseStarts, HostLayers, type DenseLayer } from '../../src/tensor/host/host-layers.js';
import { HostParameters, type HostOutputs } from '../../src/tensor/host/host-parameters.js';
import type { HostTensor } from '../../src/tensor/parameters.js';
import type { ValueNetwork } from '../actor.js';
import { edgesOf, type LinkActor, type LinkRequest, linkRequestOf, numLegal, type RequestEdges } from './request.js';
import type { LinkWalkerSettings } from './settings.js';
import { linkTables, type LinkTable, type LinkWalkerShape } from './vectors.js';

type Layers = readonly (DenseLayer & { gain: number })[];

/** Where the walker is computed here: paths have no recurrent cell. */
export const computedOnHost = ({ pathEncoder }: Pick<LinkWalkerSettings, 'pathEncoder'>) => pathEncoder === 'mean';

/** As `createLinkWalker`. @throws WorkbenchError `native` without WebAssembly SIMD */
export function createHostLinkWalker(
  settings: LinkWalkerSettings,
  { lists, start, ...sizes }: LinkWalkerShape,
  seed?: number,
): LinkActor {
  const network = new LinkNetwork('', settings, { ...sizes, start }, seed, (edgeDim) => [
    { name: 'pa.1', width: settings.width, biased: false, gain: 1 },
    { name: 'pa.2', width: settings.width, biased: false, gain: 1 },
    { name: 'pa.out', width: edgeDim, biased: false, gain: 0.01 },
  ]);
  const { parameters } = network;
  return {
    parameters,
    // An arena gives nothing back: bounds what a batch leaves behind.
    scoresAtOnce: 2 ** 16,
    requestOf: linkRequestOf,
    numScores: numLegal,
    score: (requests) => {
      const edges = edgesOf(lists, requests, sizes.numRelations);
      return { offsets: edges.offsets, logits: () => network.logits(requests, edges) };
    },
    envAction: ({ legal }, place) => legal?.[place] ?? place,
    weightsChanged: () => undefined,
    dispose: () => parameters.dispose(),
  };
}

/** As `createLinkCritic`. */
export function createHostLinkCritic(
  settings: LinkWalkerSettings,
  shape: Omit<LinkWalkerShape, 'lists'>,
  seed: number,
): ValueNetwork<LinkRequest> {
  const network = new LinkNetwork('critic/', settings, shape, seed, () => [
    { name: 'critic.1', width: settings.width, biased: true, gain: Math.SQRT2 },
    { name: 'critic.2', width: settings.width, biased: true, gain: Math.SQRT2 },
    { name: 'critic.out', width: 1, biased: true, gain: 1 },
  ]);
  return {
    parameters: network.parameters,
    values: (requests) => () => network.outputs(requests),
    dispose: () => network.parameters.dispose(),
  };
}

/** Rows of a table in the arena; trained ones with their gradients. */
interface HeldTable {
  rows: Float32Array;
  grads?: Float32Array;
}

/** Dense layers over states [mean of relations and entities walked ; relation asked ; current entity]. */
class LinkNetwork {
  readonly parameters: HostParameters;
  readonly #tables: readonly HeldTable[];
  readonly #dim: number;
  readonly #noStep: number;
  readonly #layers: HostLayers;
  readonly #pairs: Record<'left' | 'relations' | 'tails', Int32Array>;
  readonly #dots: Record<'values' | 'upstream', Float32Array>;
  /** Counts computations: the layers hold the latest one. */
  #computed = 0;

  constructor(
    prefix: string,
    settings: LinkWalkerSettings,
    { numEntities, numRelations, start }: Omit<LinkWalkerShape, 'lists'>,
    seed: number | undefined,
    layersOf: (edgeDim: number) => Layers,
  ) {
    const { trainVectors: train, vectorDim: dim, readEntities } = settings;
    const tables = linkTables({ numEntities, numRelations, train, dim, readEntities, start }, seed);
    this.#dim = tables[0]!.shape[1];
    this.#noStep = numRelations + 1;
    const edgeDim = this.#dim * tables.length;
    const layers = layersOf(edgeDim).map((layer) => ({ ...layer, name: `${prefix}${layer.name}` }));
    const named = ({ name }: LinkTable) => `${prefix}link.${name}`;
    const trained: Record<string, HostTensor> = train
      ? Object.fromEntries(tables.map((table) => [named(table), { shape: table.shape, data: table.values }]))
      : {};
    const rngOf = (name: string) => Rng.named(seed!, `walker/${name.slice(prefix.length)}`);
    const starts = denseStarts(2 * edgeDim, layers, seed === undefined ? undefined : rngOf);
    const arena = new Arena();
    this.parameters = new HostParameters({ ...trained, ...starts }, arena, openKernels(arena.memory));
    this.#tables = tables.map((table) =>
      train
        ? { rows: this.parameters.value(named(table)), grads: this.parameters.grad(named(table)) }
        : { rows: arena.hold(table.values) },
    );
    this.#layers = new HostLayers(this.parameters, 2 * edgeDim, layers);
    const none = () => arena.int32(0);
    this.#pairs = { left: none(), relations: none(), tails: none() };
    this.#dots = { values: arena.float32(0), upstream: arena.float32(0) };
  }

  /** What the last layer gives, [requests, outputs]. */
  outputs(requests: readonly LinkRequest[]): HostOutputs {
    const values = this.#compute(requests);
    return this.#recorded(values, (grad) => {
      this.#layers.outputGrads(requests.length).set(grad);
      this.#back(requests);
    });
  }

  /** Its products with the vectors of edges, [edges]. */
  logits(requests: readonly LinkRequest[], edges: RequestEdges): HostOutputs {
    const { kernels } = this.parameters;
    const count = edges.stateOf.length;
    const outputs = this.#compute(requests);
    this.#roomFor(count);
    const { left, relations, tails } = this.#pairs;
    left.set(edges.stateOf);
    relations.set(edges.relations);
    tails.set(edges.tails);
    const values = this.#dots.values.subarray(0, count).fill(0);
    const dim = this.#dim;
    const stride = dim * this.#tables.length;
    const parts = this.#tables.map((table, k) => ({ ...table, at: 4 * k * dim, right: k === 0 ? relations : tails }));
    for (const { rows, at, right } of parts) {
      kernels.addRowDots(
        ...([values.byteOffset, outputs.byteOffset + at, stride, rows.byteOffset, dim, dim] as const),
        ...([left.byteOffset, right.byteOffset, count] as const),
      );
    }
    return this.#recorded(values, (grad) => {
      const { upstream } = this.#dots;
      upstream.set(grad);
      const grads = this.#layers.outputGrads(requests.length).fill(0);
      for (const { rows, grads: ofTable, at, right } of parts) {
        kernels.addRowDotsGradient(
          ...([grads.byteOffset + at, stride, upstream.byteOffset, rows.byteOffset, dim, dim] as const),
          ...([left.byteOffset, right.byteOffset, count] as const),
        );
        if (!ofTable) continue;
        kernels.addRowDotsGradient(
          ...([ofTable.byteOffset, dim, upstream.byteOffset, outputs.byteOffset + at, stride, dim] as const),
          ...([right.byteOffset, left.byteOffset, count] as const),
        );
      }
      this.#back(requests);
    });
  }

  #recorded(values: Float32Array, back: (grad: Float32Array) => void): HostOutputs {
    const [mine, { version }] = [this.#computed, this.parameters];
    return {
      values,
      back: (grad) => {
        if (mine === this.#computed && version === this.parameters.version) return back(grad);
        throw new WorkbenchError(
          'failure',
          'expected the latest computation, got an earlier one, in backward of a network',
        );
      },
    };
  }

  #compute(requests: readonly LinkRequest[]): Float32Array {
    this.#computed++;
    const dim = this.#dim;
    const [relations, entities] = this.#tables;
    const edgeDim = dim * this.#tables.length;
    const input = this.#layers.input(requests.length);
    let at = 0;
    for (const { head, relation, current, hop, path } of requests) {
      setRow(input, at, relations!, this.#noStep, dim);
      if (entities) setRow(input, at + dim, entities, head, dim);
      for (let step = 0; step < hop; step++) {
        addRow(input, at, relations!.rows, path[2 * step]! * dim, dim, 1);
        if (entities) addRow(input, at + dim, entities.rows, path[2 * step + 1]! * dim, dim, 1);
      }
      if (hop > 0) for (let i = at; i < at + edgeDim; i++) input[i]! *= 1 / (hop + 1);
      at += edgeDim;
      setRow(input, at, relations!, relation, dim);
      if (entities) setRow(input, at + dim, entities, current, dim);
      at += edgeDim;
    }
    return this.#layers.compute(requests.length);
  }

  /** From gradients of the outputs to those of all parameters. */
  #back(requests: readonly LinkRequest[]): void {
    const [relations, entities] = this.#tables;
    const grads = this.#layers.back(requests.length, relations!.grads !== undefined);
    if (!grads) return;
    const dim = this.#dim;
    const edgeDim = dim * this.#tables.length;
    let at = 0;
    for (const { head, relation, current, hop, path } of requests) {
      const share = 1 / (hop + 1);
      addRow(relations!.grads!, this.#noStep * dim, grads, at, dim, share);
      if (entities) addRow(entities.grads!, head * dim, grads, at + dim, dim, share);
      for (let step = 0; step < hop; step++) {
        addRow(relations!.grads!, path[2 * step]! * dim, grads, at, dim, share);
        if (entities) addRow(entities.grads!, path[2 * step + 1]! * dim, grads, at + dim, dim, share);
      }
      at += edgeDim;
      addRow(relations!.grads!, relation * dim, grads, at, dim, 1);
      if (entities) addRow(entities.grads!, current * dim, grads, at + dim, dim, 1);
      at += edgeDim;
    }
  }

  #roomFor(count: number): void {
    if (this.#pairs.left.length >= count) return;
    const { arena } = this.parameters;
    const room = 2 * count;
    Object.assign(this.#pairs, { left: arena.int32(room), relations: arena.int32(room), tails: arena.int32(room) });
    Object.assign(this.#dots, { values: arena.float32(room), upstream: arena.float32(room) });
  }
}

function setRow(to: Float32Array, at: number, { rows }: HeldTable, row: number, width: number): void {
  to.set(rows.subarray(row * width, (row + 1) * width), at);
}

function addRow(to: Float32Array, at: number, from: Float32Array, begin: number, width: number, share: number): void {
  for (let i = 0; i < width; i++) to[at + i]! += share * from[begin + i]!;
}
