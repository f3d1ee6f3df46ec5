/** From a stream of named triples to a graph. */
import { basename } from 'node:path';
import { Graph, inverseName, inversePrefix } from './graph.js';

/** What is added to the triples as they were given. */
export interface BuildOptions {
  /**
   * Add `~relation` for every relation that has no inverse, and the reversed triples. Default false.
   * Only for data with one direction: OpenDialKG ships both.
   */
  addInverses?: boolean;
}

/**
 * Collects triples as ids in growing arrays: 12 to 24 bytes a triple, plus the names. Entities and relations are
 * numbered by first appearance, so equal files give equal graphs. May go on after `build`: each graph is a snapshot.
 */
export class GraphBuilder {
  readonly #entities = new Map<string, number>();
  readonly #relations = new Map<string, number>();
  #heads = new Int32Array(1024);
  #relationIds = new Int32Array(1024);
  #tails = new Int32Array(1024);
  #length = 0;
  readonly #files = new Set<string>();

  /** Triples added so far, duplicates counted. */
  get numTriples(): number {
    return this.#length;
  }

  /** Adds one triple by name; duplicates are merged by `build`. */
  add(head: string, relation: string, tail: string): void {
    if (this.#length === this.#heads.length) {
      this.#heads = doubled(this.#heads);
      this.#relationIds = doubled(this.#relationIds);
      this.#tails = doubled(this.#tails);
    }
    const at = this.#length++;
    this.#heads[at] = idOf(this.#entities, head);
    this.#relationIds[at] = idOf(this.#relations, relation);
    this.#tails[at] = idOf(this.#entities, tail);
  }

  /** Adds what is read from a file, or made by a program, and notes its name: the graph says what it was made from. */
  sinkOf(source: string): (head: string, relation: string, tail: string) => void {
    const name = basename(source);
    return (head, relation, tail) => {
      this.#files.add(name);
      this.add(head, relation, tail);
    };
  }

  /** Whether any relation is written as an inverse (`~relation`): such data ships both directions. */
  get hasInverses(): boolean {
    return [...this.#relations.keys()].some((relation) => relation.startsWith(inversePrefix));
  }

  /** @param name which graph of its data set this is, such as `dialogue` */
  build(name: string, { addInverses = false }: BuildOptions = {}): Graph {
    const relationNames = [...this.#relations.keys()];
    const length = this.#length;
    let heads = this.#heads.subarray(0, length);
    let relations = this.#relationIds.subarray(0, length);
    let tails = this.#tails.subarray(0, length);
    if (addInverses) {
      const inverses = relationNames.map((relation) => {
        const inverse = inverseName(relation);
        const known = this.#relations.get(inverse);
        return known ?? relationNames.push(inverse) - 1;
      });
      [heads, tails] = [joined(heads, tails), joined(tails, heads)];
      relations = joined(
        relations,
        relations.map((relation) => inverses[relation]!),
      );
    }
    return new Graph(name, [...this.#entities.keys()], relationNames, { heads, relations, tails }, [...this.#files]);
  }
}

function idOf(ids: Map<string, number>, name: string): number {
  const known = ids.get(name);
  if (known !== undefined) return known;
  // A part of a longer string keeps all of it in memory; a copy through bytes does not.
  const id = ids.size;
  ids.set(Buffer.from(name).toString(), id);
  return id;
}

function doubled(values: Int32Array<ArrayBuffer>): Int32Array<ArrayBuffer> {
  const larger = new Int32Array(values.length * 2);
  larger.set(values);
  return larger;
}

function joined(a: Int32Array<ArrayBuffer>, b: Int32Array<ArrayBuffer>): Int32Array<ArrayBuffer> {
  const both = new Int32Array(a.length + b.length);
  both.set(a);
  both.set(b, a.length);
  return both;
}
