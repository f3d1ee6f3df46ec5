/** Builds a graph from a stream of named triples. */
import { basename } from 'node:path';
import { adjacencyOf, type EachTriple } from './adjacency.js';
import { Graph, inverseName, inversePrefix } from './graph.js';
import { NameTable } from './name-table.js';
import { readTripleBatches, type ReadTriplesOptions, type TripleReport } from './read-triples.js';

/** Additions to the given triples. */
export interface BuildOptions {
  /** Add `~relation` and reversed triples for every relation without an inverse: for one-directional data. Default false. */
  addInverses?: boolean;
}

/** Minimum number of triples in memory before duplicates are dropped: 48 MiB. */
const mostHeld = 2 ** 22;
/** Triples per block; doubling arrays would copy and leave half empty. */
const blockTriples = 2 ** 18;

/**
 * Collects triples as ids: 12 bytes a triple, plus names; at most twice what is kept, however often a file repeats itself. Ids follow first
 * appearance: equal files give equal graphs. Adding may continue after `build`; each graph is a snapshot.
 */
export class GraphBuilder {
  readonly #entities = new NameTable();
  readonly #relations = new NameTable();
  /** int32 [3 · blockTriples] each: head, relation, tail interleaved. */
  readonly #blocks: Int32Array[] = [];
  #length = 0;
  #repeats = 0;
  #dropAt: number;
  readonly #files = new Set<string>();

  /** @param held triples in memory before duplicates are dropped */
  constructor(private readonly held = mostHeld) {
    this.#dropAt = held;
  }

  /** Triples added so far, duplicates included. */
  get numTriples(): number {
    return this.#length + this.#repeats;
  }

  /** Triples currently in memory. */
  get numHeld(): number {
    return this.#length;
  }

  /** Adds a triple by name; `build` merges duplicates. */
  add(head: string, relation: string, tail: string): void {
    this.#addIds(this.#entities.add(head), this.#relations.add(relation), this.#entities.add(tail));
  }

  /** Adds generated triples and records their source in the graph's `madeFrom`. */
  sinkOf(source: string): (head: string, relation: string, tail: string) => void {
    const name = basename(source);
    return (head, relation, tail) => {
      this.#files.add(name);
      this.add(head, relation, tail);
    };
  }

  /** Adds the triples of a file and records its name. @param onRelation called for each new relation; may throw @throws as `readTriples` */
  async addFile(
    file: string,
    options: ReadTriplesOptions,
    onRelation?: (relation: string, line: number) => void,
  ): Promise<TripleReport> {
    const [entities, relations] = [this.#entities, this.#relations];
    const name = basename(file);
    let ids = new Int32Array(0);
    return readTripleBatches(file, options, (batch) => {
      const { size, bytes } = batch;
      if (ids.length < 2 * size) ids = new Int32Array(2 * size);
      entities.addAll(bytes, batch.entities, 2 * size, ids);
      for (let i = 0; i < size; i++) {
        const known = relations.size;
        const relation = relations.addBytes(bytes, batch.relations[2 * i]!, batch.relations[2 * i + 1]!);
        if (relation === known) onRelation?.(relations.name(relation)!, batch.lines[i]!);
        this.#addIds(ids[2 * i]!, relation, ids[2 * i + 1]!);
      }
      this.#files.add(name);
    });
  }

  /** True if a relation is named as an inverse (`~relation`): such data ships both directions. */
  get hasInverses(): boolean {
    for (const relation of this.#relations.names()) if (relation.startsWith(inversePrefix)) return true;
    return false;
  }

  /** @param name of this graph within its data set, such as `dialogue` */
  build(name: string, { addInverses = false }: BuildOptions = {}): Graph {
    const relationNames = [...this.#relations.names()];
    let each: EachTriple = (take) => this.#each(take);
    if (addInverses) {
      const inverses = relationNames.map((relation) => {
        const inverse = inverseName(relation);
        const known = this.#relations.id(inverse);
        return known >= 0 ? known : relationNames.push(inverse) - 1;
      });
      each = (take) =>
        this.#each((head, relation, tail) => {
          take(head, relation, tail);
          take(tail, inverses[relation]!, head);
        });
    }
    const entities = new NameTable(this.#entities.columns());
    const rows = adjacencyOf(entities.size, relationNames.length, each);
    return new Graph(name, entities, relationNames, rows, [...this.#files]);
  }

  #each(take: (head: number, relation: number, tail: number) => void): void {
    for (let i = 0; i < this.#length; i += blockTriples) {
      const block = this.#blocks[i / blockTriples]!;
      const end = 3 * Math.min(blockTriples, this.#length - i);
      for (let at = 0; at < end; at += 3) take(block[at]!, block[at + 1]!, block[at + 2]!);
    }
  }

  #dropRepeats(): void {
    const before = this.#length;
    const { offsets, relations, tails } = adjacencyOf(this.#entities.size, this.#relations.size, (take) =>
      this.#each(take),
    );
    this.#length = 0;
    for (let head = 0; head + 1 < offsets.length; head++) {
      for (let edge = offsets[head]!; edge < offsets[head + 1]!; edge++) {
        const block = this.#blocks[Math.floor(this.#length / blockTriples)]!;
        const at = 3 * (this.#length++ % blockTriples);
        block[at] = head;
        block[at + 1] = relations[edge]!;
        block[at + 2] = tails[edge]!;
      }
    }
    this.#blocks.length = Math.ceil(this.#length / blockTriples);
    this.#repeats += before - this.#length;
    this.#dropAt = Math.max(this.held, 2 * this.#length);
  }

  #addIds(head: number, relation: number, tail: number): void {
    if (this.#length >= this.#dropAt) this.#dropRepeats();
    const within = this.#length % blockTriples;
    if (within === 0) this.#blocks.push(new Int32Array(this.#length === 0 ? 3 * 64 : 3 * blockTriples));
    let block = this.#blocks[this.#blocks.length - 1]!;
    if (3 * within === block.length) {
      // Only the first block starts small: most graphs in tests and examples fit.
      const larger = new Int32Array(2 * block.length);
      larger.set(block);
      this.#blocks[0] = block = larger;
    }
    block[3 * within] = head;
    block[3 * within + 1] = relation;
    block[3 * within + 2] = tail;
    this.#length++;
  }
}
