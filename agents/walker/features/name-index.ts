/** Finds entity names in messages and measures how much of a name a message repeats. */
import type { Graph } from '../../../src/kg/graph.js';
import { madeFrom } from '../../../src/run/provenance.js';

/** What a message says of the graph. */
export interface MessageWords {
  /** Distinct token ids; tokens that no entity name has are left out. */
  tokens: Int32Array;
  /** Distinct entities whose whole name (or name without a bracketed ending) is a run of the message's tokens. */
  mentions: Int32Array;
}

/** Longest entity name that is looked for, in tokens. */
const maxMentionTokens = 8;

/** Splits a text into lower-case runs of letters and digits; accents are dropped. */
export function tokenize(text: string): string[] {
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
      const plain = tokenize(name.replace(/\s*\([^)]*\)\s*$/, ''));
      for (const key of new Set([tokens.join(' '), plain.join(' ')])) {
        if (key === '') continue;
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
