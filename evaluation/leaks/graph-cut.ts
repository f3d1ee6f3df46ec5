/** Leaks by the choice of a graph's entities. No provenance can show it: the choice was made before the data set came. */
import type { Graph } from '../../src/kg/graph.js';
import type { AnySample, KnownSamples } from './known-samples.js';

/** Users of the entities of a graph. */
export interface GraphCut {
  graph: string;
  entities: number;
  /** Entities in gold paths of train (of questions: topics and answers). */
  inTrain: number;
  /** Entities of other splits' golds that no train gold has. */
  onlyElsewhere: number;
  /** Number of those from the given split. */
  onlyAsked: number;
  /** Entities of no gold at all. */
  inNone: number;
  /**
   * Whether the graph looks cut to the entities of its dialogues: a third or more of the entities that train never used are
   * there because another split uses them. Then any feature that separates such entities leaks.
   */
  restricted: boolean;
  /** Golds of the asked split that the graph holds whole: expected, and what makes them walkable. */
  golds: { samples: number; inGraph: number };
}

/** OpenDialKG has 53 % on the graph that was cut, 1 % on the wide one. */
const restrictedFrom = 1 / 3;

/** @param chosen whether the entities may have been chosen by dialogues at all: not of a world that a program made whole */
export function graphCut({ graph, splits, asked }: KnownSamples, chosen: boolean): GraphCut {
  const train = entitiesOf(splits.filter(({ role }) => role === 'train').flatMap(({ samples }) => samples));
  const others = entitiesOf(splits.flatMap(({ role, samples }) => (role === 'train' ? [] : samples)));
  const ofAsked = entitiesOf(asked.samples);
  const unseen = [...others].filter((entity) => !train.has(entity));
  const inNone = graph.numEntities - train.size - unseen.length;
  return {
    graph: graph.name,
    entities: graph.numEntities,
    inTrain: train.size,
    onlyElsewhere: unseen.length,
    onlyAsked: unseen.filter((entity) => ofAsked.has(entity)).length,
    inNone,
    restricted: chosen && unseen.length > 0 && unseen.length / (unseen.length + inNone) >= restrictedFrom,
    golds: { samples: asked.samples.length, inGraph: asked.samples.filter((sample) => goldIn(sample, graph)).length },
  };
}

/** Entities of the golds, those that the graph has. */
export function entitiesOf(samples: readonly AnySample[]): Set<number> {
  const entities = new Set<number>();
  for (const { task, gold } of samples) {
    if ('path' in gold) for (const [head, , tail] of gold.path) entities.add(head).add(tail);
    else {
      for (const { entity } of gold.answers) entities.add(entity);
      if ('topics' in task) for (const { entity } of task.topics) entities.add(entity);
    }
  }
  entities.delete(-1);
  return entities;
}

const goldIn = ({ gold }: AnySample, { numEntities }: Graph): boolean =>
  'inGraph' in gold ? gold.inGraph : gold.answers.some(({ entity }) => entity >= 0 && entity < numEntities);
