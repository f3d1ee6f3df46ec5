/** The numbers that networks compute with, as the settings name them. */
import type * as tfTypes from '@tensorflow/tfjs';
import type { Tf } from '../../src/tensor/backend.js';
import { throughBfloat16 } from '../../src/tensor/ops.js';
import type { WalkerSettings } from './settings.js';

/** What every tensor of a forward pass goes through: nothing for f32. */
export function roundingOf(tf: Tf, precision: WalkerSettings['precision']) {
  return <T extends tfTypes.Tensor>(x: T): T => (precision === 'bf16' ? throughBfloat16(tf, x) : x);
}
