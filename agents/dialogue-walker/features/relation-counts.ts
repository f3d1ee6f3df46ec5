/** Counts over train walks by relation and kind of entity, with those of one dialogue left out on request. */
import { madeFromSamples } from '../../../datasets/sample-source.js';
import type { WalkSample, WalkTask } from '../../../datasets/walk-sample.js';
import type { WalkState } from '../../../envs/dialogue-walk/rules.js';
import type { Graph } from '../../../src/kg/graph.js';
import { CountedWalks, logCount } from './edge-features.js';

/**
 * Steps of train walks: by the relation before, by the kind of the start and by the relation of the dialogue's last path; the last two
 * apart for first and later steps. A walk's end counts as staying. The kind of an entity is the relation that most of its edges have.
 */
export class RelationCounts {
  readonly #counts = new Map<number, number>();
  readonly #walks: CountedWalks;
  /** int32 [numEntities] */
  readonly #kinds: Int32Array;
  /** Beyond all relations and staying: none, and the key of sums. */
  readonly #none: number;

  /** @param horizon steps of a walk: there is no staying after them @param samples of train and of no other split */
  constructor(
    readonly graph: Graph,
    readonly horizon: number,
    samples: readonly WalkSample[],
  ) {
    this.#none = graph.numRelations + 1;
    this.#kinds = kindsOf(graph, this.#none);
    const note = madeFromSamples('frequency table', 'counts of relations');
    this.#walks = new CountedWalks(graph, samples, note, (sample, amount) => this.#add(sample, amount));
  }

  /** See `CountedWalks`. */
  without<T>(dialogueId: string, body: () => T): T {
    return this.#walks.without(dialogueId, body);
  }

  at(task: WalkTask, { start, path }: WalkState) {
    const groups = this.#groupsOf(task, start, path.at(-1)?.[1]);
    const sums = groups.map((group) => this.#count(group, this.#none));
    const kinds = this.#kindGroup(start, path.length);
    return {
      /** Puts three pairs of a count and a share into the first six places. @param relation `equalRelation` for staying */
      write: (relation: number, out: Float32Array) => {
        groups.forEach((group, i) => {
          const count = sums[i] === 0 ? 0 : this.#count(group, relation);
          out[2 * i] = logCount(count);
          out[2 * i + 1] = count === 0 ? 0 : count / sums[i]!;
        });
      },
      /** Steps between things of the kinds of the start and of `tail`. */
      kinds: (tail: number) => logCount(this.#count(kinds, this.#kinds[tail]!)),
    };
  }

  #add({ task, gold }: WalkSample, amount: number): void {
    const { equalRelation } = this.graph;
    const start = gold.path[0]![0];
    for (let hop = 0; hop <= gold.path.length && hop < this.horizon; hop++) {
      const [, relation, tail] = gold.path[hop] ?? [-1, equalRelation, gold.path.at(-1)![2]];
      for (const group of this.#groupsOf(task, start, gold.path[hop - 1]?.[1])) {
        this.#bump(group, relation, amount);
        this.#bump(group, this.#none, amount);
      }
      this.#bump(this.#kindGroup(start, hop), this.#kinds[tail]!, amount);
    }
  }

  /** Numbers of what a step is counted by: three tables, one after the other. @param before relation walked last, in the same walk */
  #groupsOf({ earlierPaths }: WalkTask, start: number, before = this.#none): [number, number, number] {
    const later = before === this.#none ? 0 : 1;
    const width = this.#none + 1;
    const lastPath = earlierPaths.at(-1)?.at(-1)?.[1] ?? -1;
    return [
      before,
      width * (1 + later) + this.#kinds[start]!,
      width * (3 + later) + (lastPath < 0 ? this.#none : lastPath),
    ];
  }

  #kindGroup(start: number, hop: number): number {
    return (this.#none + 1) * (5 + Math.min(hop, 1)) + this.#kinds[start]!;
  }

  #count(group: number, key: number): number {
    return this.#counts.get(group * (this.#none + 1) + key) ?? 0;
  }

  #bump(group: number, key: number, amount: number): void {
    const index = group * (this.#none + 1) + key;
    this.#counts.set(index, (this.#counts.get(index) ?? 0) + amount);
  }
}

/** The relation that most edges of each entity have, the first of equals; `none` without edges. */
function kindsOf({ offsets, relations, numEntities }: Graph, none: number): Int32Array {
  const kinds = new Int32Array(numEntities).fill(none);
  for (let entity = 0; entity < numEntities; entity++) {
    let longest = 0;
    for (let edge = offsets[entity]!, begin = edge; edge < offsets[entity + 1]!; edge++) {
      if (relations[edge] !== relations[begin]) begin = edge;
      if (edge - begin < longest) continue;
      longest = edge - begin + 1;
      kinds[entity] = relations[edge]!;
    }
  }
  return kinds;
}
