/** How far a row goes. */
import type { TransESettings } from './settings.js';

/**
 * The step size of row `row`, after counting this gradient among those it has seen.
 * @param squares float64: Adagrad's sums, one a row
 * @param square mean square of the gradient
 */
export type RowSteps = (squares: Float64Array, row: number, square: number, learningRate: number) => number;

/** The step of the settings' optimizer: Adagrad divides by the root of a row's summed squares, plain descent by nothing. */
export function rowSteps({ optimizer }: Pick<TransESettings, 'optimizer'>): RowSteps {
  const adagrad = optimizer === 'adagrad';
  return (squares, row, square, learningRate) => {
    if (!adagrad || square === 0) return learningRate;
    squares[row]! += square;
    return learningRate / Math.sqrt(squares[row]!);
  };
}

/** Mean square of the derivative of a distance by the row: its entries are ±1 (L1) or a unit vector (L2). */
export function directionSquare({ norm, dim }: Pick<TransESettings, 'norm' | 'dim'>): number {
  return norm === 1 ? 1 : 1 / dim;
}

/** The factor of a kept direction for a derivative `push` by the distance: L1 keeps signs, L2 differences. */
export function shareOf({ norm }: Pick<TransESettings, 'norm'>, push: number, distance: number): number {
  return norm === 1 ? push : push / Math.max(distance, 1e-12);
}
