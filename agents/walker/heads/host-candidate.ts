/**
 * The recommended head on the host: the network of `candidate.ts` by the same names, starts and shapes, so that a checkpoint of one
 * loads into the other, forward and back by SIMD kernels. What a batch holds more than once (the texts of a task, entities, relations)
 * is computed once, and relations are met edge by edge.
 */
import { WorkbenchError } from '../../../src/run/errors.js';
import { Rng } from '../../../src/run/seeds.js';
import { Arena } from '../../../src/simd/arena.js';
import { openKernels } from '../../../src/simd/kernels.js';
import { type HostOutputs, HostParameters } from '../../../src/tensor/host/host-parameters.js';
import { HostProducts } from '../../../src/tensor/host/host-products.js';
import { type HostTensor, normalValues, uniformFanIn } from '../../../src/tensor/parameters.js';
import type { WalkerSettings } from '../settings.js';
import { distinctRows, type Renumber, renumbering } from './batch-rows.js';
import type { HeadShape, StateBatch, WalkerHead } from './head.js';

/** Rows that edges and states pick from. */
interface Tables {
  /** float32 [any, d] and [any, hidden]: embeddings, and what the MLP per edge reads of them. */
  entities: Float32Array;
  tails: Float32Array;
  relations: Float32Array;
  marks: Float32Array;
}

/** Places of a batch in the tables, in the arena. */
interface Places {
  start: Int32Array;
  current: Int32Array;
  tail: Int32Array;
  relation: Int32Array;
  last: Int32Array;
  previous: Int32Array;
}

/** The candidate head without tensors. @throws WorkbenchError `native` without WebAssembly SIMD */
export function createHostCandidateHead(
  settings: WalkerSettings,
  shape: HeadShape,
  seed = 0,
): WalkerHead<HostParameters, HostOutputs> {
  const network = new HostCandidate(settings, shape, seed);
  const infer = (batch: StateBatch) => Promise.resolve(network.scores(batch));
  return {
    parameters: network.parameters,
    logits: (batch, dropout) => network.logits(batch, dropout),
    infer,
    rank: infer,
    weightsChanged: () => network.forget(),
    dispose: () => network.parameters.dispose(),
  };
}

class HostCandidate {
  readonly parameters: HostParameters;
  readonly #on: HostProducts;
  readonly #settings: WalkerSettings;
  readonly #shape: HeadShape;
  readonly #inputs: number;
  /** Frozen rows: of entities, and of relations with zeros for Equal and for "none yet". */
  readonly #frozen: { entities: Float32Array; relations: Float32Array };
  readonly #localEntities: Renumber;
  readonly #localRelations: Renumber;
  /** Tables of all rows, of these weights. */
  #kept: Tables | undefined;
  /** Distinct texts of the latest batch. */
  #said: ReturnType<typeof distinctRows> | undefined;
  /** Counts computations: what the backward pass needs is of the latest one. */
  #computed = 0;

  constructor(settings: WalkerSettings, shape: HeadShape, seed: number) {
    const { width, embeddingDim: d } = settings;
    const { tables, numRelations, numScalars } = shape;
    this.#settings = settings;
    this.#shape = shape;
    this.#inputs = width + 4 * d + numScalars;
    const arena = new Arena();
    const kernels = openKernels(arena.memory);
    this.parameters = new HostParameters(startsOf(settings, shape, this.#inputs, seed), arena, kernels);
    this.#on = new HostProducts(arena, kernels);
    const relations = arena.float32((numRelations + 2) * tables.relationDim);
    relations.set(tables.relations);
    this.#frozen = { entities: arena.hold(tables.entities), relations };
    this.#localEntities = renumbering(tables.entities.length / tables.entityDim);
    this.#localRelations = renumbering(numRelations + 2);
  }

  /** Scores with the backward pass. */
  logits(batch: StateBatch, dropout?: Rng): HostOutputs {
    const on = this.#on;
    const entity = this.#localEntities(batch.start, batch.current, batch.tails);
    const relation = this.#localRelations(batch.lastRelation, batch.previousPathRelation, batch.relations);
    const ids = { entities: on.numbers('entity.ids', entity.ids), relations: on.numbers('relation.ids', relation.ids) };
    const frozen = {
      entities: on.rows('entity.frozen', this.#frozen.entities, ids.entities, this.#shape.tables.entityDim),
      relations: on.rows('relation.frozen', this.#frozen.relations, ids.relations, this.#shape.tables.relationDim),
    };
    const tables = this.#tables('', ids, frozen);
    const [start, current, tail] = entity.places as [Int32Array, Int32Array, Int32Array];
    const [last, previous, own] = relation.places as [Int32Array, Int32Array, Int32Array];
    const places = this.#placed({ start, current, tail, relation: own, last, previous });
    const values = this.#forward(batch, tables, places, dropout);
    const mine = this.#computed;
    const { version } = this.parameters;
    return {
      values,
      back: (grad) => {
        if (mine !== this.#computed || version !== this.parameters.version) {
          throw new WorkbenchError(
            'failure',
            'expected the latest computation, got an earlier one, in backward of the candidate head',
          );
        }
        const grads = this.#back(batch, tables, places, grad, dropout !== undefined);
        this.#tablesBack(tables, ids, frozen, grads);
      },
    };
  }

  /** Scores alone, over tables of all rows that are kept until the weights change. */
  scores(batch: StateBatch): Float32Array {
    if (!this.#kept) {
      const { numRelations } = this.#shape;
      const relations = Int32Array.from({ length: numRelations + 2 }, (_, relation) => relation);
      const ids = { entities: undefined, relations: this.#on.numbers('all.relations', relations) };
      this.#kept = this.#tables('all.', ids, this.#frozen);
    }
    const { start, current, tails: tail, relations: relation, lastRelation: last } = batch;
    const places = this.#placed({ start, current, tail, relation, last, previous: batch.previousPathRelation });
    return this.#forward(batch, this.#kept, places).slice();
  }

  forget(): void {
    this.#kept = undefined;
  }

  #placed(places: Places): Places {
    const named = (Object.keys(places) as (keyof Places)[]).map(
      (name) => [name, this.#on.numbers(`place.${name}`, places[name])] as const,
    );
    return Object.fromEntries(named) as unknown as Places;
  }

  /** E = tanh(A · frozen + a), R = B · frozen + residual, and the MLP's share of both. @param ids of entities: as many as there are rows */
  #tables(
    prefix: string,
    { relations: relationIds }: { relations: Int32Array },
    frozen: { entities: Float32Array; relations: Float32Array },
  ): Tables {
    const on = this.#on;
    const { embeddingDim: d, hidden } = this.#settings;
    const { entityDim, relationDim } = this.#shape.tables;
    const weight = (name: string) => this.parameters.value(name);
    const [numEntities, numRelations] = [frozen.entities.length / entityDim, relationIds.length];
    const entities = on.floats(`${prefix}entities`, numEntities * d);
    on.biased(frozen.entities, numEntities, entityDim, weight('entity'), weight('entity.bias'), entities);
    on.kernels.tanhAll(entities.byteOffset, entities.length);
    const tails = on.floats(`${prefix}tails`, numEntities * hidden);
    on.product(entities, numEntities, d, weight('edge.tail'), hidden, tails);
    const relations = on.rows(`${prefix}relations`, weight('relation.residual'), relationIds, d);
    on.product(frozen.relations, numRelations, relationDim, weight('relation'), d, relations, true);
    const marks = on.floats(`${prefix}marks`, numRelations * hidden);
    on.product(relations, numRelations, d, weight('edge.relation'), hidden, marks);
    return { entities, tails, relations, marks };
  }

  /** From the gradients by the tables' rows to those of what they are made of. */
  #tablesBack(
    tables: Tables,
    ids: { entities: Int32Array; relations: Int32Array },
    frozen: { entities: Float32Array; relations: Float32Array },
    grads: Tables,
  ): void {
    const on = this.#on;
    const { embeddingDim: d, hidden } = this.#settings;
    const { entityDim, relationDim } = this.#shape.tables;
    const weight = (name: string) => this.parameters.value(name);
    const grad = (name: string) => this.parameters.grad(name);
    const [numEntities, numRelations] = [ids.entities.length, ids.relations.length];
    on.weights(tables.entities, numEntities, d, grads.tails, hidden, grad('edge.tail'));
    on.back(grads.tails, numEntities, hidden, weight('edge.tail'), d, grads.entities, true);
    on.kernels.tanhGrad(grads.entities.byteOffset, tables.entities.byteOffset, numEntities * d);
    on.bias(grads.entities, numEntities, grad('entity.bias'));
    on.weights(frozen.entities, numEntities, entityDim, grads.entities, d, grad('entity'));
    on.weights(tables.relations, numRelations, d, grads.marks, hidden, grad('edge.relation'));
    on.back(grads.marks, numRelations, hidden, weight('edge.relation'), d, grads.relations, true);
    const residual = grad('relation.residual').byteOffset;
    on.kernels.scatterRows(residual, grads.relations.byteOffset, ids.relations.byteOffset, numRelations, d);
    on.weights(frozen.relations, numRelations, relationDim, grads.relations, d, grad('relation'));
  }

  #forward(batch: StateBatch, tables: Tables, places: Places, dropout?: Rng): Float32Array {
    this.#computed++;
    const on = this.#on;
    const { kernels } = on;
    const { width, embeddingDim: d, hidden } = this.#settings;
    const { contextDim, numScalars, numEdgeFeatures } = this.#shape;
    const { numStates: states } = batch;
    const count = batch.tails.length;
    const weight = (name: string) => this.parameters.value(name);

    const { texts, textOf } = (this.#said = distinctRows(batch.context, contextDim, (length) =>
      on.floats('context', length),
    ));
    const text = on.floats('text', texts * width);
    const context = on.floats('context', texts * contextDim);
    on.biased(context, texts, contextDim, weight('context'), weight('context.bias'), text);
    kernels.reluAll(text.byteOffset, text.length);
    const inputs = on.floats('inputs', states * this.#inputs);
    for (let s = 0, at = 0; s < states; s++) {
      const put = (table: Float32Array, row: number, size: number) => {
        inputs.set(table.subarray(row * size, (row + 1) * size), at);
        at += size;
      };
      put(text, textOf[s]!, width);
      put(tables.entities, places.start[s]!, d);
      put(tables.entities, places.current[s]!, d);
      put(tables.relations, places.last[s]!, d);
      put(tables.relations, places.previous[s]!, d);
      put(batch.scalars, s, numScalars);
    }
    this.#dropped('inputs', inputs, dropout);
    const first = on.floats('first', states * width);
    on.biased(inputs, states, this.#inputs, weight('trunk.1'), weight('trunk.1.bias'), first);
    kernels.reluAll(first.byteOffset, first.length);
    this.#dropped('first', first, dropout);
    const state = on.floats('state', states * width);
    on.biased(first, states, width, weight('trunk.2'), weight('trunk.2.bias'), state);
    kernels.reluAll(state.byteOffset, state.length);
    this.#dropped('state', state, dropout);

    const toTail = on.floats('toTail', states * d);
    on.product(state, states, width, weight('state.tail'), d, toTail);
    const toRelation = on.floats('toRelation', states * d);
    on.product(state, states, width, weight('state.relation'), d, toRelation);
    const own = on.floats('own', states * hidden);
    on.biased(state, states, width, weight('edge.state'), weight('edge.state.bias'), own);

    const stateOf = on.numbers('stateOf', batch.stateOf);
    const logits = on.zeros('logits', count);
    const mixed = numEdgeFeatures > 0 ? on.floats('mixed', count * hidden) : on.zeros('mixed', count * hidden);
    const features = on.copied('features', batch.edgeFeatures);
    if (numEdgeFeatures > 0) on.product(features, count, numEdgeFeatures, weight('edge.features'), hidden, mixed);
    const scale = 1 / Math.sqrt(d);
    for (const [vector, table, row] of [
      [toTail, tables.entities, places.tail],
      [toRelation, tables.relations, places.relation],
    ] as const) {
      const [left, right] = [vector.byteOffset, table.byteOffset];
      kernels.addDots(logits.byteOffset, left, stateOf.byteOffset, right, row.byteOffset, d, count, scale);
    }
    for (const [table, row] of [
      [own, stateOf],
      [tables.marks, places.relation],
      [tables.tails, places.tail],
    ] as const) {
      kernels.addRows(mixed.byteOffset, table.byteOffset, row.byteOffset, count, hidden);
    }
    kernels.reluAll(mixed.byteOffset, mixed.length);
    const second = on.floats('second', count * hidden);
    on.biased(mixed, count, hidden, weight('edge.hidden'), weight('edge.hidden.bias'), second);
    kernels.reluAll(second.byteOffset, second.length);
    on.product(second, count, hidden, weight('edge.out'), 1, logits, true);
    if (numEdgeFeatures > 0) on.product(features, count, numEdgeFeatures, weight('edge.linear'), 1, logits, true);
    return logits;
  }

  /** Adds to the gradients of the network's own weights. @returns those by the rows of the tables */
  #back(batch: StateBatch, tables: Tables, places: Places, upstream: Float32Array, dropped: boolean): Tables {
    const on = this.#on;
    const { kernels } = on;
    const { width, embeddingDim: d, hidden } = this.#settings;
    const { contextDim, numEdgeFeatures } = this.#shape;
    const { numStates: states } = batch;
    const count = batch.tails.length;
    const weight = (name: string) => this.parameters.value(name);
    const grad = (name: string) => this.parameters.grad(name);
    const held = (name: string, length: number) => on.floats(name, length);
    const bent = (by: Float32Array, values: Float32Array) =>
      kernels.reluGrad(by.byteOffset, values.byteOffset, by.length);
    const grads: Tables = {
      entities: on.zeros('d.entities', tables.entities.length),
      tails: on.zeros('d.tails', tables.tails.length),
      relations: on.zeros('d.relations', tables.relations.length),
      marks: on.zeros('d.marks', tables.marks.length),
    };

    const by = on.copied('d.logits', upstream);
    const [second, mixed] = [held('second', count * hidden), held('mixed', count * hidden)];
    const bySecond = on.floats('d.second', second.length);
    on.weights(second, count, hidden, by, 1, grad('edge.out'));
    on.back(by, count, 1, weight('edge.out'), hidden, bySecond);
    bent(bySecond, second);
    on.bias(bySecond, count, grad('edge.hidden.bias'));
    on.weights(mixed, count, hidden, bySecond, hidden, grad('edge.hidden'));
    const byMixed = on.floats('d.mixed', mixed.length);
    on.back(bySecond, count, hidden, weight('edge.hidden'), hidden, byMixed);
    bent(byMixed, mixed);
    if (numEdgeFeatures > 0) {
      const features = held('features', count * numEdgeFeatures);
      on.weights(features, count, numEdgeFeatures, byMixed, hidden, grad('edge.features'));
      on.weights(features, count, numEdgeFeatures, by, 1, grad('edge.linear'));
    }
    const stateOf = on.numbers('stateOf', batch.stateOf);
    const byOwn = on.zeros('d.own', states * hidden);
    for (const [table, row] of [
      [byOwn, stateOf],
      [grads.marks, places.relation],
      [grads.tails, places.tail],
    ] as const) {
      kernels.scatterRows(table.byteOffset, byMixed.byteOffset, row.byteOffset, count, hidden);
    }

    const state = held('state', states * width);
    const byState = on.floats('d.state', state.length);
    on.back(byOwn, states, hidden, weight('edge.state'), width, byState);
    on.weights(state, states, width, byOwn, hidden, grad('edge.state'));
    on.bias(byOwn, states, grad('edge.state.bias'));
    const scale = 1 / Math.sqrt(d);
    for (const [name, vector, table, byTable, row] of [
      ['state.tail', 'toTail', tables.entities, grads.entities, places.tail],
      ['state.relation', 'toRelation', tables.relations, grads.relations, places.relation],
    ] as const) {
      const [mine, rows] = [stateOf.byteOffset, row.byteOffset];
      const byVector = on.zeros('d.vector', states * d);
      const [own, other] = [held(vector, states * d).byteOffset, table.byteOffset];
      kernels.addScaledRows(byVector.byteOffset, mine, by.byteOffset, scale, other, rows, d, count);
      kernels.addScaledRows(byTable.byteOffset, rows, by.byteOffset, scale, own, mine, d, count);
      on.weights(state, states, width, byVector, d, grad(name));
      on.back(byVector, states, d, weight(name), width, byState, true);
    }

    const first = held('first', states * width);
    if (dropped) this.#masked('state', byState);
    bent(byState, state);
    on.bias(byState, states, grad('trunk.2.bias'));
    on.weights(first, states, width, byState, width, grad('trunk.2'));
    const byFirst = on.floats('d.first', first.length);
    on.back(byState, states, width, weight('trunk.2'), width, byFirst);
    if (dropped) this.#masked('first', byFirst);
    bent(byFirst, first);
    const inputs = held('inputs', states * this.#inputs);
    on.bias(byFirst, states, grad('trunk.1.bias'));
    on.weights(inputs, states, this.#inputs, byFirst, width, grad('trunk.1'));
    const byInputs = on.floats('d.inputs', inputs.length);
    on.back(byFirst, states, width, weight('trunk.1'), this.#inputs, byInputs);
    if (dropped) this.#masked('inputs', byInputs);

    const { texts, textOf } = this.#said!;
    const text = held('text', texts * width);
    const byText = on.zeros('d.text', text.length);
    for (let s = 0; s < states; s++) {
      let at = s * this.#inputs;
      const add = (table: Float32Array, row: number, size: number) => {
        for (let j = 0, to = row * size; j < size; j++) table[to + j]! += byInputs[at + j]!;
        at += size;
      };
      add(byText, textOf[s]!, width);
      add(grads.entities, places.start[s]!, d);
      add(grads.entities, places.current[s]!, d);
      add(grads.relations, places.last[s]!, d);
      add(grads.relations, places.previous[s]!, d);
    }
    bent(byText, text);
    on.bias(byText, texts, grad('context.bias'));
    on.weights(held('context', texts * contextDim), texts, contextDim, byText, width, grad('context'));
    return grads;
  }

  /** Drops units as the tensors' network does, draw by draw; the mask stays for the backward pass. */
  #dropped(name: string, values: Float32Array, rng: Rng | undefined): void {
    if (!rng) return;
    const { dropout } = this.#settings;
    const mask = this.#on.floats(`mask.${name}`, values.length);
    const keep = 1 - dropout;
    if (dropout === 0) mask.fill(1);
    else for (let i = 0; i < mask.length; i++) mask[i] = rng.uniform() < keep ? 1 / keep : 0;
    this.#masked(name, values);
  }

  #masked(name: string, values: Float32Array): void {
    const mask = this.#on.floats(`mask.${name}`, values.length);
    this.#on.kernels.mulAll(values.byteOffset, mask.byteOffset, values.length);
  }
}

/** Weights as the tensors' network starts with them. */
function startsOf(
  { width, embeddingDim: d, hidden }: WalkerSettings,
  { contextDim, numRelations, numEdgeFeatures, tables }: HeadShape,
  inputs: number,
  seed: number,
): Record<string, HostTensor> {
  const starts: Record<string, HostTensor> = {};
  const layer = (name: string, rows: number, columns: number, biased = false) => {
    const data = uniformFanIn(Rng.named(seed, `walker/${name}`), rows, rows * columns);
    starts[name] = { shape: [rows, columns], data };
    if (biased) starts[`${name}.bias`] = { shape: [columns], data: new Float32Array(columns) };
  };
  layer('context', contextDim, width, true);
  layer('entity', tables.entityDim, d, true);
  layer('relation', tables.relationDim, d);
  const residual = normalValues(Rng.named(seed, 'walker/residual'), 0.02, (numRelations + 2) * d);
  starts['relation.residual'] = { shape: [numRelations + 2, d], data: residual };
  layer('trunk.1', inputs, width, true);
  layer('trunk.2', width, width, true);
  layer('state.tail', width, d);
  layer('state.relation', width, d);
  layer('edge.state', width, hidden, true);
  layer('edge.tail', d, hidden);
  layer('edge.relation', d, hidden);
  layer('edge.hidden', hidden, hidden, true);
  layer('edge.out', hidden, 1);
  if (numEdgeFeatures > 0) {
    layer('edge.features', numEdgeFeatures, hidden);
    starts['edge.linear'] = { shape: [numEdgeFeatures, 1], data: new Float32Array(numEdgeFeatures) };
  }
  return starts;
}
