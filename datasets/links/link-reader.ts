/** Files of triples as ids that all files of a data set share. */
import { Graph, inverseName, inversePrefix, type TripleColumns } from '../../src/kg/graph.js';
import { NameTable } from '../../src/kg/name-table.js';
import { readTripleBatches } from '../../src/kg/read-triples.js';
import { printable } from '../../src/run/printable.js';
import { LineProblems } from '../line-problems.js';
import { separatorOf } from '../triple-separator.js';
import { TripleSet } from './triple-set.js';

/** What a file of triples held. */
export interface ReadTriples {
  /** Each once, in the order of the file. */
  triples: TripleSet;
  /** Lines that say what an earlier line of the file said. */
  duplicates: number;
  /** Lines that name an inverse relation (`~r`): they were read as the same triple of `r`. */
  inverseLines: number;
}

/** Numbers entities and relations by first appearance over all the files that it reads. Memory does not grow with the text. */
export class LinkReader {
  readonly entities = new NameTable();
  /** Plain ones, without inverses. */
  readonly relations = new NameTable();

  /**
   * Reads lines of `head TAB relation TAB tail`, or with `|` between them where the first line has no TAB; LF or CRLF, unpacked where the name
   * ends in `.gz`. A data set ships `~r` where it ships both directions: walks have them anyway, and as triples of their own they would
   * be in two splits.
   * @throws WorkbenchError `data` that lists every broken line: another number of fields (a name with a TAB among them), a blank field, a
   *   relation without a name; and for a file that is missing, unreadable or not UTF-8
   */
  async read(file: string): Promise<ReadTriples> {
    const triples = new TripleSet();
    const report = { duplicates: 0, inverseLines: 0 };
    const problems = new LineProblems(file);
    const separator = await separatorOf(file);
    const onProblem = (line: number, problem: string) => problems.add(line, problem);
    let ids = new Int32Array(0);
    await readTripleBatches(file, { separator, onProblem }, ({ size, bytes, entities, relations, lines }) => {
      if (ids.length < 2 * size) ids = new Int32Array(2 * size);
      this.entities.addAll(bytes, entities, 2 * size, ids);
      for (let i = 0; i < size; i++) {
        const [from, to] = [relations[2 * i]!, relations[2 * i + 1]!];
        let start = from;
        while (start < to && bytes[start] === inverseMark) start++;
        if (start === to) {
          const got = printable(JSON.stringify(bytes.toString('utf8', from, to)), 80);
          problems.add(lines[i]!, `expected a relation's name behind ${inversePrefix}, got ${got}`);
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
   * The graph of some triples with all entities and relations read so far: `r` has the id of its first appearance, `~r` that and the
   * number of relations more.
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
