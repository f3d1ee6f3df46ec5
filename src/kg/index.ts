/** `kgwalk/kg`: graphs, paths, and reading and building them. */
export type { AdjacencyRows, RelationColumn } from './adjacency.js';
export type { BuildOptions } from './build-graph.js';
export { GraphBuilder } from './build-graph.js';
export type { Frontier } from './frontier.js';
export { canonicalOrder, executeChain, frontierRelations, initialFrontier, stepFrontier } from './frontier.js';
export { readGraphFile, writeGraphFile } from './graph-file.js';
export type { SharedGraph, TripleColumns } from './graph.js';
export { Graph, inverseName, inversePrefix, unknownId } from './graph.js';
export { NameTable } from './name-table.js';
export { NameIndex, normalizeName } from './name-index.js';
export type { Path, Triple } from './path.js';
export { canonicalPath, pathKey } from './path.js';
export type { FoundPaths, PathLimits } from './paths-between.js';
export { pathsBetween } from './paths-between.js';
export type { ReadTriplesOptions, TripleReport, TripleSink } from './read-triples.js';
export { readTriples } from './read-triples.js';
