/** Distinct texts: whatever is asked twice is encoded once. */

/** Texts without their repetitions. */
export interface DistinctTexts {
  /** Each text once, in the order of first appearance. */
  distinct: string[];
  /** int32 [texts.length]: place of each asked text in `distinct`. */
  rows: Int32Array;
}

/** The distinct ones of `texts`, in the order of their first, and which of them each is. */
export function distinctTexts(texts: readonly string[]): DistinctTexts {
  const places = new Map<string, number>();
  const rows = new Int32Array(texts.length);
  texts.forEach((text, i) => {
    let place = places.get(text);
    if (place === undefined) places.set(text, (place = places.size));
    rows[i] = place;
  });
  return { distinct: [...places.keys()], rows };
}

/** int32 [count]: how many of the asked texts each distinct one is. */
export function timesAsked(rows: Int32Array, count: number): Int32Array {
  const times = new Int32Array(count);
  for (const row of rows) times[row]!++;
  return times;
}

/** Whether a text says nothing: its vector is zero and no model sees it. */
export function isBlank(text: string): boolean {
  return text.trim() === '';
}

/** Scales to length 1 in place, summing in double precision; a zero vector stays zero. */
export function normalizeL2(vector: Float32Array | Float64Array): void {
  let square = 0;
  for (const value of vector) square += value * value;
  if (square === 0) return;
  const scale = 1 / Math.sqrt(square);
  for (let i = 0; i < vector.length; i++) vector[i] = vector[i]! * scale;
}
