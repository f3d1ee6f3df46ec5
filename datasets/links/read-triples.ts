/** Triple files as ids shared by all files of a data set. */
import { Graph, inverseName, inversePrefix, type TripleColumns } from '../../src/kg/graph.js';
import { NameTable } from '../../src/kg/name-table.js';
import { readLines } from '../../src/kg/read-lines.js';
import { readTripleBatches, type ReadTriplesOptions } from '../../src/kg/read-triples.js';
import { printable } from '../../src/run/printable.js';
import { type ImportReport, LineProblems } from '../importer.js';

export interface ReadTriples {
  /** Distinct, in file order. */
  triples: TripleSet;
  duplicates: number;
  /** Lines of an inverse relation (`~r`), read as triples of `r`. */
  inverseLines: number;
}

/** Numbers entities and relations by first appearance over all files read. Memory does not grow with the text. */
export class LinkReader {
  readonly entities = new NameTable();

  /** @param relations plain ones; pass those of another reader to share its ids */
  constructor(readonly relations = new NameTable()) {}

  /**
   * Reads lines of `head TAB relation TAB tail`, or of another layout (`layoutOf`); LF or CRLF, unpacked if the name ends in `.gz`.
   * Inverse relations `~r` are merged into `r`: walks have both directions anyway, and as separate triples they would occur in two splits.
   * @throws WorkbenchError `data` that lists every broken line: wrong field count (including names with a TAB), a blank field, a relation
   * without a name; and for a missing, unreadable or non-UTF-8 file
   */
  async read(file: string, layout: ReadTriplesOptions = {}, notes?: ImportReport): Promise<ReadTriples> {
    const triples = new TripleSet();
    const report = { duplicates: 0, inverseLines: 0 };
    const problems = new LineProblems(file, notes);
    const onProblem = (line: number, problem: string) => problems.add(line, problem);
    let ids = new Int32Array(0);
    await readTripleBatches(file, { ...layout, onProblem }, ({ size, bytes, entities, relations, lines }) => {
      if (ids.length < 2 * size) ids = new Int32Array(2 * size);
      this.entities.addAll(bytes, entities, 2 * size, ids);
      for (let i = 0; i < size; i++) {
        const [from, to] = [relations[2 * i]!, relations[2 * i + 1]!];
        let start = from;
        while (start < to && bytes[start] === inverseMark) start++;
        if (start === to) {
          const got = printable(JSON.stringify(bytes.toString('utf8', from, to)), 80);
          problems.add(lines[i]!, `expected a relation's name after ${inversePrefix}, got ${got}`);
          continue;
        }
        const relation = this.relations.addBytes(bytes, start, to);
        const [head, tail] = [ids[2 * i]!, ids[2 * i + 1]!];
        const turned = (start - from) % 2 === 1;
        if (start > from) report.inverseLines++;
        if (!(turned ? triples.add(tail, relation, head) : triples.add(head, relation, tail))) report.duplicates++;
      }
    });
    problems.throwIfAny();
    return { triples, ...report };
  }

  /**
   * Graph of some triples with all entities and relations read so far: `r` has the id of its first appearance, `~r` that plus the number
   * of relations.
   */
  graphOf(name: string, { heads, relations, tails }: TripleColumns, madeFrom: readonly string[]): Graph {
    const names = [...this.relations.names()];
    const inverse = relations.map((relation) => relation + names.length);
    return new Graph(
      name,
      new NameTable(this.entities.columns()),
      [...names, ...names.map(inverseName)],
      { heads: joined(heads, tails), relations: joined(relations, inverse), tails: joined(tails, heads) },
      madeFrom,
    );
  }
}

const inverseMark = inversePrefix.charCodeAt(0);

function joined(a: Int32Array, b: Int32Array): Int32Array {
  const both = new Int32Array(a.length + b.length);
  both.set(a);
  both.set(b, a.length);
  return both;
}

/** Load factor at which the hash table doubles. */
const mostFilled = 0.6;

/** Insertion-ordered set: 12 bytes a triple plus 7 to 13 for the hash table, double while growing. */
export class TripleSet {
  #heads = new Int32Array(64);
  #relations = new Int32Array(64);
  #tails = new Int32Array(64);
  #size = 0;
  /** Index into the columns plus one, 0 is free; the length is a power of two. */
  #slots = new Int32Array(128);

  get size(): number {
    return this.#size;
  }

  /** @returns true if new */
  add(head: number, relation: number, tail: number): boolean {
    const slot = this.#slotOf(head, relation, tail);
    if (this.#slots[slot] !== 0) return false;
    if (this.#size === this.#heads.length) {
      this.#heads = doubled(this.#heads);
      this.#relations = doubled(this.#relations);
      this.#tails = doubled(this.#tails);
    }
    this.#heads[this.#size] = head;
    this.#relations[this.#size] = relation;
    this.#tails[this.#size] = tail;
    this.#slots[slot] = ++this.#size;
    if (this.#size > mostFilled * this.#slots.length) this.#index(2 * this.#slots.length);
    return true;
  }

  has(head: number, relation: number, tail: number): boolean {
    return this.#slots[this.#slotOf(head, relation, tail)] !== 0;
  }

  /** All triples in order; a copy. */
  columns(): TripleColumns {
    const [heads, relations, tails] = [this.#heads, this.#relations, this.#tails].map((c) => c.slice(0, this.#size));
    return { heads: heads!, relations: relations!, tails: tails! };
  }

  #slotOf(head: number, relation: number, tail: number): number {
    const slots = this.#slots;
    const mask = slots.length - 1;
    for (let slot = hashOf(head, relation, tail) & mask; ; slot = (slot + 1) & mask) {
      const at = slots[slot]! - 1;
      if (at < 0) return slot;
      if (this.#heads[at] === head && this.#relations[at] === relation && this.#tails[at] === tail) return slot;
    }
  }

  #index(length: number): void {
    this.#slots = new Int32Array(length);
    for (let at = 0; at < this.#size; at++) {
      this.#slots[this.#slotOf(this.#heads[at]!, this.#relations[at]!, this.#tails[at]!)] = at + 1;
    }
  }
}

function doubled(column: Int32Array<ArrayBuffer>): Int32Array<ArrayBuffer> {
  const larger = new Int32Array(2 * column.length);
  larger.set(column);
  return larger;
}

/** Three rounds of multiply and mix, as ids are small and dense. */
function hashOf(head: number, relation: number, tail: number): number {
  let hash = 0;
  for (let i = 0; i < 3; i++) {
    hash = Math.imul(hash ^ (i === 0 ? head : i === 1 ? relation : tail), 0x2c1b3c6d);
    hash ^= hash >>> 15;
  }
  return hash;
}

interface EntityLabels {
  /** In file order; only entities with a name. */
  labels: ReadonlyMap<number, string>;
  /** Names of ids without triples. */
  unused: number;
}

/**
 * Reads lines of `id TAB name`. Blank names are ignored; unused ids are counted.
 * @throws WorkbenchError `data` that lists every broken line: wrong field count (names with a TAB), an id with two names
 */
export async function readEntityLabels(file: string, entities: NameTable): Promise<EntityLabels> {
  const labels = new Map<number, string>();
  const unused = new Set<string>();
  const problems = new LineProblems(file);
  await readLines(file, 'names', (text, line) => {
    if (text === '') return;
    const fields = text.split('\t');
    const [id = '', name = ''] = fields;
    const entity = entities.id(id);
    const earlier = labels.get(entity);
    if (fields.length !== 2) {
      problems.add(line, `expected an id, a TAB and a name, got ${fields.length} fields (${excerpt(text)})`);
    } else if (entity < 0) unused.add(id);
    else if (earlier !== undefined && earlier !== name) {
      problems.add(line, `expected one name for each id, got ${excerpt(name)} after ${excerpt(earlier)}`);
    } else if (name.trim() !== '') labels.set(entity, Buffer.from(name).toString());
  });
  problems.throwIfAny();
  return { labels, unused: unused.size };
}

const excerpt = (text: string) => printable(JSON.stringify(text), 80);
