/** `kgwalk/kg`: graphs, paths, and reading and building them. @module kgwalk/kg */
export type { AdjacencyRows, RelationColumn } from './adjacency.js';
export { type BuildOptions, GraphBuilder } from './build-graph.js';
export {
  canonicalOrder,
  executeChain,
  type Frontier,
  frontierRelations,
  initialFrontier,
  stepFrontier,
} from './frontier.js';
export { readGraphFile, writeGraphFile } from './graph-file.js';
export {
  canonicalPath,
  Graph,
  inverseName,
  inversePrefix,
  type Path,
  pathKey,
  type SharedGraph,
  type Triple,
  type TripleColumns,
  unknownId,
} from './graph.js';
export { NameTable } from './name-table.js';
export { NameIndex, normalizeName } from './name-index.js';
export { type FoundPaths, type PathLimits, pathsBetween } from './paths-between.js';
export { readTriples, type ReadTriplesOptions, type TripleReport, type TripleSink } from './read-triples.js';
