/** From a stream of named triples to a graph. */
import { basename } from 'node:path';
import { adjacencyOf, type EachTriple } from './adjacency.js';
import { Graph, inverseName, inversePrefix } from './graph.js';
import { NameTable } from './name-table.js';
import { readTripleBatches, type ReadTriplesOptions, type TripleReport } from './read-triples.js';

/** What is added to the triples as they were given. */
export interface BuildOptions {
  /**
   * Add `~relation` for every relation that has no inverse, and the reversed triples. Default false.
   * Only for data with one direction: OpenDialKG ships both.
   */
  addInverses?: boolean;
}

/** Triples that are held at least before those that stand twice are dropped: 48 MiB. */
const mostHeld = 2 ** 22;
/** Triples of a block: arrays that double would be copied, and be half empty. */
const blockTriples = 2 ** 18;

/**
 * Collects triples as ids: 12 bytes a triple, plus the names; those that stand twice are dropped on the way, so that memory follows what
 * is kept, at most twice of it, and not what a file repeats. Entities and relations are numbered by first appearance, so
 * equal files give equal graphs. May go on after `build`: each graph is a snapshot.
 */
export class GraphBuilder {
  readonly #entities = new NameTable();
  readonly #relations = new NameTable();
  /** int32 [3 · blockTriples] each: head, relation and tail side by side. */
  readonly #blocks: Int32Array[] = [];
  #length = 0;
  #repeats = 0;
  #dropAt: number;
  readonly #files = new Set<string>();

  /** @param held triples that are held before any are dropped */
  constructor(private readonly held = mostHeld) {
    this.#dropAt = held;
  }

  /** Triples added so far, duplicates counted. */
  get numTriples(): number {
    return this.#length + this.#repeats;
  }

  /** Triples that take memory now. */
  get numHeld(): number {
    return this.#length;
  }

  /** Adds one triple by name; duplicates are merged by `build`. */
  add(head: string, relation: string, tail: string): void {
    this.#addIds(this.#entities.add(head), this.#relations.add(relation), this.#entities.add(tail));
  }

  /** Adds what is made by a program, and notes its name: the graph says what it was made from. */
  sinkOf(source: string): (head: string, relation: string, tail: string) => void {
    const name = basename(source);
    return (head, relation, tail) => {
      this.#files.add(name);
      this.add(head, relation, tail);
    };
  }

  /**
   * Adds the triples of a file and notes its name; no triple becomes text on the way.
   * @param onRelation told of each relation when it is first met, with its line; may throw
   * @throws as `readTriples`
   */
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

  /** Whether any relation is written as an inverse (`~relation`): such data ships both directions. */
  get hasInverses(): boolean {
    for (const relation of this.#relations.names()) if (relation.startsWith(inversePrefix)) return true;
    return false;
  }

  /** @param name which graph of its data set this is, such as `dialogue` */
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
      // Only the first block begins small: most graphs of tests and examples need no more.
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
