/** Paths between two entities: shortest, or all simple ones. */
import { type AdjacencyRows, reversedRows } from './adjacency.js';
import { byIds } from './graph.js';
import { ShortestPaths } from './shortest-paths.js';
import { SimplePaths, type SimpleLimits } from './simple-paths.js';

/** Options of `pathsBetween`. */
export interface PathLimits extends SimpleLimits {
  kind: 'shortest' | 'simple';
  /** Maximum number of paths. */
  most: number;
}

/** Ascending by length, then by ids. */
export interface FoundPaths {
  /** int32 [2 · length] each: relation and entity of each step. Empty if head is tail. */
  paths: Int32Array[];
  /** False if there are more: then shortest paths are the first ones, simple paths those found first. */
  complete: boolean;
}

/**
 * Single search. For many searches in one graph keep a `ShortestPaths` or `SimplePaths`: this one reverses the graph at each call.
 * @throws WorkbenchError `usage` for a horizon below 1 or above the limit of the search
 */
export function pathsBetween(
  rows: AdjacencyRows,
  head: number,
  tail: number,
  { kind, horizon, hidden, most }: PathLimits,
): FoundPaths {
  const reversed = reversedRows(rows);
  let paths: Int32Array[] = [];
  if (kind === 'shortest') {
    paths = new ShortestPaths(rows, reversed).between(head, tail, { horizon, hidden, most: most + 1 });
  } else {
    new SimplePaths(rows, reversed).each(head, tail, { horizon, hidden }, (path, length) => {
      paths.push(path.slice(0, 2 * length));
      return paths.length > most;
    });
  }
  const complete = paths.length <= most;
  return { paths: paths.slice(0, most).sort((a, b) => a.length - b.length || byIds(a, b)), complete };
}
