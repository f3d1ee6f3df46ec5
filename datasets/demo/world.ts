/** A demo world in memory: its graph, what each entity is, and what people call it. */
import { GraphBuilder } from '../../src/kg/build-graph.js';
import { inverseName, type Graph } from '../../src/kg/graph.js';
import { aliasesOf } from './aliases.js';
import { demoFacts } from './facts.js';
import type { EntityType } from './schema.js';
import type { DemoSettings } from './settings.js';

/** What dialogues and questions are made from. */
export interface DemoWorld {
  graph: Graph;
  /** What each entity is, by id. */
  types: readonly EntityType[];
  /** What people also call an entity, by id; another entity may be called the same. */
  aliases: readonly (readonly string[])[];
}

/** Builds the graph of these settings, both directions of every fact. @param name of the graph */
export function demoWorld(settings: Pick<DemoSettings, 'seed' | 'entities' | 'triples'>, name = 'dialogue'): DemoWorld {
  const builder = new GraphBuilder();
  const add = builder.sinkOf('facts of the demo');
  const typeOf = new Map<string, EntityType>();
  for (const { head, relation, tail, headType, tailType } of demoFacts(settings)) {
    add(head, relation, tail);
    add(tail, inverseName(relation), head);
    typeOf.set(head, headType);
    typeOf.set(tail, tailType);
  }
  const graph = builder.build(name);
  const types = graph.entityNames.map((entity) => typeOf.get(entity)!);
  return { graph, types, aliases: graph.entityNames.map((entity, id) => aliasesOf(types[id]!, entity)) };
}
