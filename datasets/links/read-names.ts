/** Display names of entities. */
import { readLines } from '../../src/kg/read-lines.js';
import type { NameTable } from '../../src/kg/name-table.js';
import { printable } from '../../src/run/printable.js';
import { LineProblems } from '../line-problems.js';

/** Names by entity id, and what came of the file. */
export interface EntityLabels {
  /** In the order of the file; entities without a name are not among them. */
  labels: ReadonlyMap<number, string>;
  /** Names of ids that no triple has. */
  unused: number;
}

/**
 * Reads lines of `id TAB name`. A blank name is none; an id of no triple is counted.
 * @throws WorkbenchError `data` that lists every broken line: another number of fields (a name with a TAB), an id with two names
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
