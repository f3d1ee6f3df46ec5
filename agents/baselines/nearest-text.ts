/** The nearest of some texts by the cosine of their vectors. */
import { dot, type StateEncoder, unitVectors } from '../../src/encoder/state-encoder.js';

/** Finds, for each asked text, the place of the nearest known one; ties go to the first. */
export type NearestText = (asked: readonly string[], signal?: AbortSignal) => Promise<number[]>;

/**
 * @param known at least one; encoded at the first call
 * @param open asked for at the first call
 */
export function nearestText(known: readonly string[], open: () => Promise<StateEncoder>): NearestText {
  let table: Promise<Float32Array[]> | undefined;
  return async (asked, signal) => {
    const knownRows = await (table ??= unitVectors(await open(), known));
    return (await unitVectors(await open(), asked, signal)).map((row) => {
      let best = 0;
      let bestCosine = -Infinity;
      knownRows.forEach((other, place) => {
        const cosine = dot(row, other);
        if (cosine > bestCosine) [best, bestCosine] = [place, cosine];
      });
      return best;
    });
  };
}
