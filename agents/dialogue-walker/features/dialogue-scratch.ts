/** Features of entities in a dialogue: arrays over a graph, filled for one dialogue at a time and cleared by touch. */
import type { WalkTask } from '../../../datasets/walk-sample.js';
import type { Graph } from '../../../src/kg/graph.js';
import { withoutQualifier } from '../../../src/kg/name-index.js';
import { madeFrom } from '../../../src/run/provenance.js';
import { CosineMemo, EntityCosines } from './cosines.js';

/** Frozen unit vectors that cosines are taken with. */
export interface FrozenVectors {
  dim: number;
  /** float32 [numEntities, dim]. */
  entities: Float32Array;
  /** float32 [numRelations, dim]. */
  relations: Float32Array;
}

/** The last message names the entity. */
export const flagMentionedLast = 1;
/** An earlier message names the entity. */
export const flagMentionedEarlier = 2;
/** The entity is on an earlier path of the dialogue. */
export const flagVisited = 4;
/** The entity is on the last path of the dialogue. */
export const flagVisitedLast = 8;

/** Per-entity features of one dialogue. One object serves all dialogues in turn. */
export class DialogueScratch {
  /** uint8 [numEntities]: the `flag…` bits. */
  readonly flags: Uint8Array;
  /** float32 [numEntities]: summed rarity of entities of the last message that are neighbours. */
  readonly nearLast: Float32Array;
  /** float32 [numEntities]: the same for entities mentioned earlier or visited. */
  readonly nearEarlier: Float32Array;
  readonly #flagged: number[] = [];
  readonly #nearTouched: number[] = [];
  readonly #lastTokens: Int32Array;
  readonly #earlierTokens: Int32Array;
  readonly #relationCosines: CosineMemo;
  readonly #entityCosines: EntityCosines;
  #generation = 0;

  constructor(
    readonly graph: Graph,
    readonly names: NameIndex,
    readonly vectors: FrozenVectors,
  ) {
    this.flags = new Uint8Array(graph.numEntities);
    this.nearLast = new Float32Array(graph.numEntities);
    this.nearEarlier = new Float32Array(graph.numEntities);
    this.#lastTokens = new Int32Array(names.numTokens);
    this.#earlierTokens = new Int32Array(names.numTokens);
    this.#relationCosines = new CosineMemo(vectors.relations, vectors.dim);
    this.#entityCosines = new EntityCosines(vectors.entities, vectors.dim);
  }

  /** Turns to a dialogue. @param last unit vector of the last message @param window of the last few messages */
  open(task: WalkTask, last: Float32Array, window: Float32Array): void {
    this.#clear();
    this.#generation++;
    task.messages.forEach((message, i) => {
      const isLast = i === task.messages.length - 1;
      const { tokens, mentions } = this.names.read(message.text);
      const stamps = isLast ? this.#lastTokens : this.#earlierTokens;
      for (const token of tokens) stamps[token] = this.#generation;
      for (const entity of mentions) this.#flag(entity, isLast ? flagMentionedLast : flagMentionedEarlier);
    });
    task.earlierPaths.forEach((path, i) => {
      const bits = i === task.earlierPaths.length - 1 ? flagVisited | flagVisitedLast : flagVisited;
      for (const [head, , tail] of path) {
        if (head >= 0) this.#flag(head, bits);
        if (tail >= 0) this.#flag(tail, bits);
      }
    });
    for (const entity of this.#flagged) {
      if (this.flags[entity]! & flagMentionedLast) this.#spread(entity, this.nearLast);
      if (this.flags[entity]! & (flagMentionedEarlier | flagVisited)) this.#spread(entity, this.nearEarlier);
    }
    this.#relationCosines.open(last, this.#generation);
    this.#entityCosines.open(last, window, this.#generation);
  }

  /** Share of an entity's name, weighted by rarity, that the last message repeats; in [0, 1]. */
  overlapLast(entity: number): number {
    return this.#overlap(entity, this.#lastTokens);
  }

  /** The same for all messages before the last. */
  overlapEarlier(entity: number): number {
    return this.#overlap(entity, this.#earlierTokens);
  }

  cosineLastRelation(relation: number): number {
    return this.#relationCosines.of(relation);
  }

  /** Cosines that will be asked for: many at once cost less. */
  prepareCosines(entities: Iterable<number>): void {
    this.#entityCosines.prepare(entities);
  }

  cosineLastEntity(entity: number): number {
    return this.#entityCosines.last.of(entity);
  }

  cosineWindowEntity(entity: number): number {
    return this.#entityCosines.window.of(entity);
  }

  #overlap(entity: number, stamps: Int32Array): number {
    const { tokenOffsets, tokenIds, inverseFrequency, nameWeight } = this.names;
    let weight = 0;
    for (let i = tokenOffsets[entity]!; i < tokenOffsets[entity + 1]!; i++) {
      if (stamps[tokenIds[i]!] === this.#generation) weight += inverseFrequency[tokenIds[i]!]!;
    }
    return weight === 0 ? 0 : weight / nameWeight[entity]!;
  }

  #flag(entity: number, bits: number): void {
    if (this.flags[entity] === 0) this.#flagged.push(entity);
    this.flags[entity]! |= bits;
  }

  /**
   * Adds an entity's rarity to each neighbour: hubs say little, so they weigh little. Neighbours by several relations
   * gain once a run of equal tails in the edge order, not once in all.
   */
  #spread(entity: number, near: Float32Array): void {
    const { offsets, tails, numEntities } = this.graph;
    const weight = Math.log((1 + numEntities) / (1 + this.graph.degree(entity))) / 10;
    let previous = -1;
    for (let edge = offsets[entity]!; edge < offsets[entity + 1]!; edge++) {
      const tail = tails[edge]!;
      if (tail === previous) continue;
      previous = tail;
      near[tail]! += weight;
      this.#nearTouched.push(tail);
    }
  }

  #clear(): void {
    for (const entity of this.#flagged) this.flags[entity] = 0;
    for (const entity of this.#nearTouched) {
      this.nearLast[entity] = 0;
      this.nearEarlier[entity] = 0;
    }
    this.#flagged.length = 0;
    this.#nearTouched.length = 0;
  }
}

interface MessageWords {
  /** Distinct token ids; tokens that no entity name has are left out. */
  tokens: Int32Array;
  /** Distinct entities whose whole name (or name without a bracketed ending) is a run of the message's tokens. */
  mentions: Int32Array;
}

/** Longest entity name that is looked for, in tokens. */
export const maxMentionTokens = 8;

/** Splits a text into lower-case runs of letters and digits; accents are dropped. */
export function tokenize(text: string): string[] {
  // The same of most messages, several times sooner.
  if (!/[\u0080-\uffff]/.test(text)) return text.toLowerCase().match(/[a-z0-9]+/g) ?? [];
  return (
    text
      .normalize('NFKD')
      .replace(/\p{M}/gu, '')
      .toLowerCase()
      .match(/[\p{L}\p{N}]+/gu) ?? []
  );
}

/** Token tables of a graph's entity names, built once. */
export class NameIndex {
  /** int32 [numEntities + 1] and its values: distinct token ids of each name. */
  readonly tokenOffsets: Int32Array;
  readonly tokenIds: Int32Array;
  /** float32 [numTokens]: ln(numEntities / number of names with the token), at least a little above 0. */
  readonly inverseFrequency: Float32Array;
  /** float32 [numEntities]: sum of `inverseFrequency` over a name's tokens. */
  readonly nameWeight: Float32Array;
  readonly #ids = new Map<string, number>();
  readonly #entitiesByName = new Map<string, number[]>();
  /** Runs of tokens that a longer name begins with. */
  readonly #beginnings = new Set<string>();
  readonly #messages = new Map<string, MessageWords>();

  constructor(graph: Graph) {
    const offsets = new Int32Array(graph.numEntities + 1);
    const ids: number[] = [];
    const frequency: number[] = [];
    madeFrom('frequency table', 'words of entity names', { names: graph.numEntities });
    graph.entityNames.forEach((name, entity) => {
      const tokens = tokenize(name);
      for (const token of new Set(tokens)) {
        const id = this.#ids.get(token) ?? this.#ids.size;
        this.#ids.set(token, id);
        frequency[id] = (frequency[id] ?? 0) + 1;
        ids.push(id);
      }
      offsets[entity + 1] = ids.length;
      const plain = tokenize(withoutQualifier(name));
      for (const key of new Set([tokens.join(' '), plain.join(' ')])) {
        if (key === '') continue;
        for (let end = key.indexOf(' '); end >= 0; end = key.indexOf(' ', end + 1)) {
          this.#beginnings.add(key.slice(0, end));
        }
        const entities = this.#entitiesByName.get(key);
        if (entities) entities.push(entity);
        else this.#entitiesByName.set(key, [entity]);
      }
    });
    this.tokenOffsets = offsets;
    this.tokenIds = Int32Array.from(ids);
    this.inverseFrequency = Float32Array.from(frequency, (count) => Math.log((graph.numEntities + 1) / count));
    this.nameWeight = new Float32Array(graph.numEntities);
    for (let entity = 0; entity < graph.numEntities; entity++) {
      for (let i = offsets[entity]!; i < offsets[entity + 1]!; i++) {
        this.nameWeight[entity]! += this.inverseFrequency[ids[i]!]!;
      }
    }
  }

  get numTokens(): number {
    return this.inverseFrequency.length;
  }

  /** Tokens and mentions of a message; each distinct text is read once. */
  read(text: string): MessageWords {
    const known = this.#messages.get(text);
    if (known) return known;
    const tokens = tokenize(text);
    const mentions = new Set<number>();
    for (let begin = 0; begin < tokens.length; begin++) {
      let key = '';
      for (let end = begin; end < Math.min(tokens.length, begin + maxMentionTokens); end++) {
        key = end === begin ? tokens[end]! : `${key} ${tokens[end]!}`;
        for (const entity of this.#entitiesByName.get(key) ?? []) mentions.add(entity);
        if (!this.#beginnings.has(key)) break;
      }
    }
    const ids = new Set<number>();
    for (const token of tokens) {
      const id = this.#ids.get(token);
      if (id !== undefined) ids.add(id);
    }
    const words = { tokens: Int32Array.from(ids), mentions: Int32Array.from(mentions) };
    this.#messages.set(text, words);
    return words;
  }
}
