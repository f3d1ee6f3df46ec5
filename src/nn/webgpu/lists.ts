/** Entries of an index by the row that they name, so that each row is summed by one thread in one order. */
export interface Lists {
  /** int32 [count]: row of each list, ascending; lists of one row are neighbours. */
  rows: Int32Array;
  /** int32 [count + 1]: list i has the entries `order[begins[i]] .. order[begins[i + 1] - 1]`. */
  begins: Int32Array;
  /** int32 [entries]; absent where they are in order already. */
  order: Int32Array | undefined;
  count: number;
  /** True where each row has one list. */
  whole: boolean;
}

/** Entries of a list; rows with more have several. */
const mostEntries = 1024;

/** @param index int32 [entries], none below 0 */
export function listsOf(index: Int32Array): Lists {
  const order = ordered(index);
  const at = order ? (i: number) => index[order[i]!]! : (i: number) => index[i]!;
  const [rows, begins]: [number[], number[]] = [[], []];
  let whole = true;
  for (let i = 0; i < index.length; i++) {
    const row = at(i);
    const same = rows.length > 0 && rows.at(-1) === row;
    if (same && i - begins.at(-1)! < mostEntries) continue;
    if (same) whole = false;
    rows.push(row);
    begins.push(i);
  }
  begins.push(index.length);
  return { rows: Int32Array.from(rows), begins: Int32Array.from(begins), order, count: rows.length, whole };
}

/** Entries by row and, of one row, by place; undefined where they are. By counting, or for few entries of many rows by sorting. */
function ordered(index: Int32Array): Int32Array | undefined {
  let [most, sorted] = [-1, true];
  for (const row of index) {
    if (row < most) sorted = false;
    else most = row;
  }
  if (sorted) return undefined;
  if (most > 8 * index.length) {
    const keys = Float64Array.from(index, (row, i) => row * index.length + i).sort();
    return Int32Array.from(keys, (key) => key % index.length);
  }
  const next = new Int32Array(most + 2);
  for (const row of index) next[row + 1]!++;
  for (let row = 1; row < next.length; row++) next[row]! += next[row - 1]!;
  const order = new Int32Array(index.length);
  index.forEach((row, i) => (order[next[row]!++] = i));
  return order;
}
