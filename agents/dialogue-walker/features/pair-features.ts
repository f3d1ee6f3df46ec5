/** Additional features of an edge: counts of train walks by relation and kind of entity, and similarities of start, tail and earlier messages. */
import type { WalkSample, WalkTask } from '../../../datasets/walk-sample.js';
import type { WalkState } from '../../../envs/dialogue-walk/rules.js';
import { type Graph, unknownId } from '../../../src/kg/graph.js';
import { CosineMemo, EntityCosines } from './cosines.js';
import type { FrozenVectors } from './dialogue-scratch.js';
import { RelationCounts } from './relation-counts.js';

/** Names of the features, in order; all lie roughly in [0, 1]. The first seven need train counts, the last two a wider graph. */
export const pairFeatureNames = [
  'count of the relation after the one before',
  'share of the relation after the one before',
  'count of the relation by kind of the start',
  'share of the relation by kind of the start',
  'count of the relation by that of the last path',
  'share of the relation by that of the last path',
  'count of the kinds of start and tail',
  'cosine of start and tail',
  'neighbours that start and tail share',
  'tail is a neighbour of the start',
  'tail is a year',
  'year of the tail',
  'years between start and tail',
  'cosine of last messages and relation',
  'cosine of the message before the last and tail',
  'cosine of the message before the last and relation',
  'cosine of the message before that and tail',
  'cosine of the message before that and relation',
  'log degree of the tail in the wider graph',
  'log ratio of its degrees',
] as const;

/** Messages before the last one that are looked at. */
export const messagesBefore = 2;

interface PairFeatureOptions {
  graph: Graph;
  vectors: FrozenVectors;
  horizon: number;
  /** Samples whose walks are counted: train, and its linked turns where those count. */
  counted: readonly WalkSample[];
  /** int32 [numEntities]: edges of each entity in a wider graph; absent: those features are 0. */
  wideDegrees?: Int32Array | undefined;
}

/** Entities of more edges than this say nothing of what they connect. */
const hub = 256;

/** Writes the further features for one dialogue after the other. */
export class PairFeatures {
  readonly #graph: Graph;
  readonly #counts: RelationCounts;
  readonly #years: Int16Array;
  readonly #wideDegrees: Int32Array | undefined;
  readonly #startCosines: CosineMemo;
  readonly #windowRelations: CosineMemo;
  /** Cosines of the message before the last (`last`) and of the one before that (`window`). */
  readonly #beforeTails: EntityCosines;
  readonly #beforeRelations: readonly CosineMemo[];
  readonly #nothing: Float32Array;
  /** float32 [numEntities]: summed rarity of the neighbours that an entity shares with the start. */
  readonly #shared: Float32Array;
  readonly #nextToStart: Uint8Array;
  /** int32 [numEntities]: 1 + the last neighbour of the start through which an entity was counted. */
  readonly #countedBeside: Int32Array;
  readonly #touched: number[] = [];
  #start = unknownId;
  #generation = 0;

  constructor({ graph, vectors, horizon, counted, wideDegrees }: PairFeatureOptions) {
    const { entities, relations, dim } = vectors;
    this.#graph = graph;
    this.#counts = new RelationCounts(graph, horizon, counted);
    this.#years = yearsOf(graph);
    this.#wideDegrees = wideDegrees;
    this.#startCosines = new CosineMemo(entities, dim);
    this.#windowRelations = new CosineMemo(relations, dim);
    this.#beforeTails = new EntityCosines(entities, dim);
    this.#beforeRelations = Array.from({ length: messagesBefore }, () => new CosineMemo(relations, dim));
    this.#nothing = new Float32Array(dim);
    this.#shared = new Float32Array(graph.numEntities);
    this.#nextToStart = new Uint8Array(graph.numEntities);
    this.#countedBeside = new Int32Array(graph.numEntities);
  }

  /**
   * Turns to a dialogue.
   * @param window float32 [dim] unit vector of the last few messages
   * @param before the same of each message before the last, the later one first; fewer where there are none
   */
  open(window: Float32Array, before: readonly Float32Array[]): void {
    this.#generation++;
    this.#windowRelations.open(window, this.#generation);
    const [first = this.#nothing, second = this.#nothing] = before;
    this.#beforeTails.open(first, second, this.#generation);
    [first, second].forEach((text, m) => this.#beforeRelations[m]!.open(text, this.#generation));
  }

  /** Runs `body` with the counts of one dialogue left out, as `WalkCounts.without`. */
  without<T>(dialogueId: string, body: () => T): T {
    return this.#counts.without(dialogueId, body);
  }

  /** Writes the features of listed actions, as `writeEdgeFeatures` does. */
  write(task: WalkTask, state: WalkState, actions: Int32Array, out: Float32Array, at: number, stride: number): void {
    const { start, current, hop } = state;
    if (current === unknownId) return;
    if (start !== this.#start) this.#turnTo(start);
    const graph = this.#graph;
    const degree = graph.degree(current);
    const base = graph.offsets[current]!;
    const counts = this.#counts.at(task, state);
    this.#beforeTails.prepare(actions.map((action) => (action >= degree ? current : graph.tails[base + action]!)));
    // Edges of one relation stand side by side, so what hangs on the relation alone is looked up once a run of them.
    const ofRelation = new Float32Array(pairFeatureNames.length);
    let relation = -1;
    for (const action of actions) {
      const stay = action >= degree;
      const tail = stay ? current : graph.tails[base + action]!;
      const own = stay ? graph.equalRelation : graph.relations[base + action]!;
      if (own !== relation) {
        relation = own;
        counts.write(relation, ofRelation);
        ofRelation[13] = stay ? 0 : this.#windowRelations.of(relation);
        for (let m = 0; m < messagesBefore; m++) {
          ofRelation[15 + 2 * m] = stay ? 0 : this.#beforeRelations[m]!.of(relation);
        }
      }
      out.set(ofRelation, at);
      out[at + 6] = counts.kinds(tail);
      out[at + 7] = this.#startCosines.of(tail);
      out[at + 8] = this.#shared[tail]!;
      out[at + 9] = hop > 0 ? this.#nextToStart[tail]! : 0;
      this.#writeYears(start, tail, out, at);
      out[at + 14] = this.#beforeTails.last.of(tail);
      out[at + 16] = this.#beforeTails.window.of(tail);
      if (this.#wideDegrees) {
        const wide = Math.log1p(this.#wideDegrees[tail]!);
        out[at + 18] = wide / 8;
        out[at + 19] = (wide - Math.log1p(graph.degree(tail))) / 4;
      }
      at += stride;
    }
  }

  /** A negative year is of an entity that is no year itself. */
  #writeYears(start: number, tail: number, out: Float32Array, at: number): void {
    const year = this.#years[tail]!;
    if (year === 0) return;
    out[at + 10] = year > 0 ? 1 : 0;
    out[at + 11] = (Math.abs(year) - 1900) / 120;
    const other = Math.abs(this.#years[start]!);
    if (other > 0) out[at + 12] = Math.min(1, Math.abs(Math.abs(year) - other) / 30);
  }

  /** Computes features that depend on the start alone: equal in all states of a task. */
  #turnTo(start: number): void {
    for (const entity of this.#touched) {
      this.#shared[entity] = this.#nextToStart[entity] = this.#countedBeside[entity] = 0;
    }
    this.#touched.length = 0;
    this.#start = start;
    const { offsets, tails, numEntities } = this.#graph;
    const row = start * this.#startCosines.dim;
    this.#startCosines.open(this.#startCosines.table.subarray(row, row + this.#startCosines.dim), start + 1);
    const neighbours = new Set(tails.subarray(offsets[start]!, offsets[start + 1]!));
    for (const neighbour of neighbours) {
      this.#nextToStart[neighbour] = 1;
      this.#touched.push(neighbour);
      const degree = this.#graph.degree(neighbour);
      if (degree > hub) continue;
      const rarity = Math.log((1 + numEntities) / (1 + degree)) / 40;
      for (let edge = offsets[neighbour]!; edge < offsets[neighbour + 1]!; edge++) {
        const entity = tails[edge]!;
        // Entities may be joined by several relations, whose edges stand apart.
        if (this.#countedBeside[entity] === neighbour + 1) continue;
        this.#countedBeside[entity] = neighbour + 1;
        this.#shared[entity]! += rarity;
        this.#touched.push(entity);
      }
    }
  }
}

/** int16 [numEntities]: the year that an entity is; minus the first year that it has an edge to; 0 where there is none. */
function yearsOf(graph: Graph): Int16Array {
  const years = Int16Array.from(graph.entityNames, (name) => (/^(1[89]|20)\d\d$/.test(name) ? Number(name) : 0));
  const own = years.slice();
  for (let entity = 0; entity < graph.numEntities; entity++) {
    for (let edge = graph.offsets[entity]!; edge < graph.offsets[entity + 1]! && years[entity] === 0; edge++) {
      years[entity] = -own[graph.tails[edge]!]!;
    }
  }
  return years;
}
