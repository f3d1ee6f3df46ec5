/** The interface of the networks that score legal actions. */
import type * as tfTypes from '@tensorflow/tfjs';
import type { Rng } from '../../src/run/seeds.js';
import type { ParameterSet } from '../../src/tensor/parameters.js';
import type { FrozenTables } from './frozen-tables.js';
import type { StateBatch } from './state-batch.js';

/** A network that scores legal actions. */
export interface WalkerHead {
  readonly parameters: ParameterSet;
  /** What its logits are rounded to; default f32. */
  readonly precision?: 'f32' | 'bf16';
  /**
   * Scores every legal action of a batch; differentiable.
   * @param dropout generator of dropout masks; absent means no dropout
   * @returns float32 [N] logits, owned by the caller (or its tidy)
   */
  logits(batch: StateBatch, dropout?: Rng): tfTypes.Tensor1D;
  /** Logits on the host, reusing what depends on the weights alone until `weightsChanged` is called. */
  infer(batch: StateBatch): Promise<Float32Array>;
  /**
   * As `infer`, on the host where a head can: a little other digits, the same on every backend and however many states are
   * beside. For ranking only: what is trained on must come from `infer`.
   */
  rank?(batch: StateBatch): Promise<Float32Array>;
  /** Forgets what `infer` and `rank` keep. Call after every update. */
  weightsChanged(): void;
  dispose(): void;
}

/** Sizes and frozen tables that a head is built for. */
export interface HeadShape {
  contextDim: number;
  /** Steps of a walk; a state's `hop` is below. */
  horizon: number;
  numEdgeFeatures: number;
  numEntities: number;
  numRelations: number;
  /** Of width 0 where the network reads none. */
  tables: FrozenTables;
  /** Places of the longest action list, staying counted: with `pathAware: false`, whose logits are places'. */
  maxActions?: number | undefined;
}
