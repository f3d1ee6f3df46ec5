/** The best of a long stream of scored items, without keeping the stream. */

type HeapItem = { a: number; b: number; value: number };

/** Keeps the best items of a stream; one heap serves many streams, one after the other. */
export interface BoundedHeap {
  clear(): void;
  /**
   * @param score higher is better
   * @param tie lower is better among equal scores
   * @param a, b int32, what the item is
   * @param value carried along
   */
  offer(score: number, tie: number, a: number, b: number, value: number): void;
  /** Empties the heap; best first. */
  drain(): HeapItem[];
}

/** Keeps the `size` items of highest score, ties to the lower `tie`; typed arrays, the worst kept item at the root. */
export function boundedHeap(size: number): BoundedHeap {
  const scores = new Float64Array(size);
  const ties = new Float64Array(size);
  const first = new Int32Array(size);
  const second = new Int32Array(size);
  const values = new Float64Array(size);
  let length = 0;

  const behind = (i: number, j: number) => scores[i]! < scores[j]! || (scores[i] === scores[j] && ties[i]! > ties[j]!);
  const put = (i: number, score: number, tie: number, a: number, b: number, value: number) => {
    scores[i] = score;
    ties[i] = tie;
    first[i] = a;
    second[i] = b;
    values[i] = value;
  };
  const swap = (i: number, j: number) => {
    const [score, tie, a, b, value] = [scores[i]!, ties[i]!, first[i]!, second[i]!, values[i]!];
    put(i, scores[j]!, ties[j]!, first[j]!, second[j]!, values[j]!);
    put(j, score, tie, a, b, value);
  };
  const sink = (from: number) => {
    for (let i = from; ;) {
      let child = 2 * i + 1;
      if (child >= length) return;
      if (child + 1 < length && behind(child + 1, child)) child++;
      if (!behind(child, i)) return;
      swap(i, child);
      i = child;
    }
  };

  return {
    clear() {
      length = 0;
    },
    offer(score, tie, a, b, value) {
      if (length < size) {
        let i = length++;
        put(i, score, tie, a, b, value);
        for (let parent = (i - 1) >> 1; i > 0 && behind(i, parent); i = parent, parent = (i - 1) >> 1) swap(i, parent);
      } else if (score > scores[0]! || (score === scores[0] && tie < ties[0]!)) {
        put(0, score, tie, a, b, value);
        sink(0);
      }
    },
    drain() {
      const items: HeapItem[] = [];
      while (length > 0) {
        items.push({ a: first[0]!, b: second[0]!, value: values[0]! });
        swap(0, --length);
        sink(0);
      }
      return items.reverse();
    },
  };
}
