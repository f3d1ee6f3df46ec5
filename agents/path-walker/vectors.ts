/** Vectors of entities and relations that both states and edges are read by: frozen, or trained with the network. */
import { join } from 'node:path';
import { encodeSafetensors, readSafetensors, type Tensor } from '../../checkpoints/safetensors.js';
import type { EdgeLists } from '../../envs/link-query/world.js';
import { WorkbenchError } from '../../src/run/errors.js';
import { writeFileAtomic } from '../../src/run/files.js';
import { runFiles } from '../../src/run/run-files.js';
import { Rng } from '../../src/run/seeds.js';
import { type HostTensor, normalValues } from '../../src/nn/parameters.js';
import type { Tape, Taped } from '../../src/nn/tape.js';
import type { FrozenVectors } from '../dialogue-walker/features/dialogue-scratch.js';
import type { LinkWalkerSettings } from './settings.js';
import { edgeDots, type Edges } from '../dialogue-walker/heads/edge-scorers.js';

/** Vectors to start from, those of inverses included. */
export type StartVectors = FrozenVectors;

export interface LinkWalkerShape {
  lists: EdgeLists;
  numEntities: number;
  /** Inverses included. */
  numRelations: number;
  /** With `vectors` other than `random`. */
  start?: StartVectors | undefined;
}

/** Without vectors to start from: normal numbers, which give vectors a length of about 1. */
type VectorTablesOptions = Omit<LinkWalkerShape, 'lists'> &
  Pick<LinkWalkerSettings, 'trainVectors' | 'vectorDim' | 'readEntities'>;

type LinkTable = { name: 'relations' | 'entities'; values: Float32Array; shape: [number, number] };

/** Relations first, then entities where they have vectors. @param seed of what is drawn; zeros without it */
function linkTables(
  { numEntities, numRelations, trainVectors, vectorDim, readEntities, start }: VectorTablesOptions,
  seed?: number,
): LinkTable[] {
  const dim = start?.dim ?? vectorDim;
  const table = (name: LinkTable['name'], rows: number, given: Float32Array | undefined): LinkTable => {
    const drawn = seed !== undefined && (trainVectors || !given);
    const values = drawn
      ? normalValues(Rng.named(seed, `link-walker/${name}`), 1 / Math.sqrt(dim), rows * dim)
      : new Float32Array(rows * dim);
    if (given) values.set(given.subarray(0, rows * dim));
    return { name, values, shape: [rows, dim] };
  };
  return [
    table('relations', numRelations + 2, start?.relations.subarray(0, numRelations * dim)),
    ...(readEntities ? [table('entities', numEntities, start?.entities)] : []),
  ];
}

/** The tables. Relations have two rows more: staying, and "no step yet". */
export class VectorTables {
  readonly dim: number;
  /** Numbers of an edge's: its relation's, and its entity's where entities have vectors. */
  readonly edgeDim: number;
  /** Initial values, where they are trained. */
  readonly initialValues: Record<string, HostTensor>;
  readonly #tables: LinkTable[];

  /** @param seed of what is drawn; zeros without it */
  constructor(options: VectorTablesOptions, seed?: number) {
    this.#tables = linkTables(options, seed);
    this.dim = this.#tables[0]!.shape[1];
    this.edgeDim = this.dim * this.#tables.length;
    const trained = options.trainVectors ? this.#tables : [];
    this.initialValues = Object.fromEntries(
      trained.map(({ name, shape, values }) => [`link.${name}`, { shape, data: values }]),
    );
  }

  /** [ids, edgeDim]: vectors of relations, then of entities where they have some. */
  rows(tape: Tape, relations: Int32Array, entities: Int32Array): Taped {
    return tape.concat(this.#on(tape).map((table, k) => tape.rows(table, [relations, entities][k]!)));
  }

  /** Rows of `left`, [n, edgeDim], times the vectors of edges. */
  dots(tape: Tape, left: Taped, edges: Edges): Taped {
    return edgeDots(tape, left, this.#on(tape), edges);
  }

  #on(tape: Tape): Taped[] {
    return this.#tables.map(({ name, values, shape: [rows, width] }) =>
      this.initialValues[`link.${name}`]
        ? tape.parameter(`link.${name}`)
        : { rows, width, values: tape.executor.hold(values) },
    );
  }
}

const vectorsFile = (runFolder: string) => join(runFiles(runFolder).embeddings, 'link-vectors.safetensors');

/** Writes them into the run, atomically. */
export function writeStartVectors(runFolder: string, { dim, entities, relations }: StartVectors): void {
  const table = (data: Float32Array): Tensor => ({ shape: [data.length / dim, dim], data });
  const tensors = new Map([
    ['entities', table(entities)],
    ['relations', table(relations)],
  ]);
  writeFileAtomic(vectorsFile(runFolder), encodeSafetensors({ tensors, metadata: new Map() }));
}

/**
 * @param sizes rows that the tables must have
 * @throws WorkbenchError `data` for a file that is missing, damaged, or of other sizes
 */
export function readStartVectors(
  runFolder: string,
  { numEntities, numRelations }: { numEntities: number; numRelations: number },
): StartVectors {
  const file = vectorsFile(runFolder);
  const { tensors } = readSafetensors(file, { finite: true, own: true });
  const table = (name: string, rows: number) => {
    const tensor = tensors.get(name);
    if (tensor?.data instanceof Float32Array && tensor.shape.length === 2 && tensor.shape[0]! >= rows) return tensor;
    const got = tensor ? `${tensor.data.constructor.name} [${tensor.shape.join()}]` : 'none';
    throw new WorkbenchError('data', `expected float32 ${name} of at least ${rows} rows, got ${got}, at ${file}`, {
      hint: 'Resume the run with `kgwalk train --resume`: it writes the file again.',
    });
  };
  const entities = table('entities', numEntities);
  const relations = table('relations', numRelations);
  const [ofEntities, ofRelations] = [entities.data, relations.data] as [Float32Array, Float32Array];
  return { dim: entities.shape[1]!, entities: ofEntities, relations: ofRelations };
}
