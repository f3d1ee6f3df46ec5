/** Paths between two entities: the shortest ones, or all that enter no entity twice. */
import { type AdjacencyRows, reversedRows } from './adjacency.js';
import { byIds } from './graph.js';
import { ShortestPaths } from './shortest-paths.js';
import { SimplePaths, type SimpleLimits } from './simple-paths.js';

/** Which paths are asked for. */
export interface PathLimits extends SimpleLimits {
  kind: 'shortest' | 'simple';
  /** Paths that are given at most. */
  most: number;
}

/** What was found, in ascending order of length, then of the numbers. */
export interface FoundPaths {
  /** int32 [2 · length] each: relation and entity of each step. The empty one where head is tail. */
  paths: Int32Array[];
  /** Whether these are all. Where they are not, shortest ones are the first of all, others those that were met first. */
  complete: boolean;
}

/**
 * Searches once. For many searches in one graph keep a `ShortestPaths` or `SimplePaths`: this one reverses the graph each time.
 * @throws WorkbenchError `usage` for a horizon below 1 or beyond what the search can do
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
