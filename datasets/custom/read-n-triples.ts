/** A graph from N-Triples, with names that people can read. */
import { GraphBuilder } from '../../src/kg/build-graph.js';
import { Graph, inversePrefix } from '../../src/kg/graph.js';
import { readLines } from '../../src/kg/read-lines.js';
import { printable } from '../../src/run/printable.js';
import { LineProblems } from '../line-problems.js';
import { distinctNames, localName } from './name-terms.js';
import type { Term } from './parse-n-triples.js';
import { parseStatement } from './parse-n-triples.js';
import type { CustomGraph } from './read-graph.js';

const nameProperties = new Set([
  'http://www.w3.org/2000/01/rdf-schema#label',
  'http://www.w3.org/2004/02/skos/core#prefLabel',
]);
const aliasProperty = 'http://www.w3.org/2004/02/skos/core#altLabel';

/**
 * Nodes are IRIs, blank nodes and literals (by their text alone: language and data type are dropped, blank ones left out). Names are labels,
 * English ones or those without a language first, else the last part of the IRI; `distinctNames` keeps them apart. Further labels are
 * aliases.
 * @throws WorkbenchError `data` that lists every broken line
 */
export async function readNTriples(file: string, labels: boolean): Promise<CustomGraph> {
  const builder = new GraphBuilder();
  const add = builder.sinkOf(file);
  const problems = new LineProblems(file);
  const labelsOf = new Map<string, { text: string; rank: number }[]>();
  let blankLiterals = 0;
  await readLines(file, 'N-Triples', (text, line) => {
    const statement = parseStatement(text);
    if (statement === undefined) return;
    if (typeof statement === 'string') {
      problems.add(line, `${statement}, got ${printable(JSON.stringify(text), 80)}`);
      return;
    }
    const [subject, predicate, object] = statement;
    const rank = nameProperties.has(predicate.value) ? 0 : predicate.value === aliasProperty ? 2 : undefined;
    if (object.kind === 'literal' && object.value.trim() === '') blankLiterals++;
    else if (labels && object.kind === 'literal' && rank !== undefined) {
      const foreign = Number(object.language !== '' && !object.language.startsWith('en'));
      const known = labelsOf.get(keyOf(subject)) ?? [];
      labelsOf.set(keyOf(subject), [...known, { text: object.value, rank: rank + foreign }]);
    } else add(keyOf(subject), keyOf(predicate), keyOf(object));
  });
  problems.throwIfAny();
  const raw = builder.build('graph', { addInverses: true });
  for (const found of labelsOf.values()) found.sort((a, b) => a.rank - b.rank);
  const wanted = (key: string) => {
    const [best] = labelsOf.get(key) ?? [];
    if (best && best.rank < 2) return best.text;
    return key.startsWith('"') ? key.slice(1) : key.startsWith('<') ? localName(key.slice(1, -1)) : key;
  };
  const named = (keys: readonly string[]) => distinctNames(keys.map((key) => ({ key, wanted: wanted(key) })));
  const entities = named(raw.entityNames);
  const relations = named(raw.relationNames.filter((relation) => !relation.startsWith(inversePrefix)));
  const blanks = blankLiterals > 0 ? `; ${blankLiterals} blank literals left out` : '';
  return {
    graph: renamed(raw, entities, relations),
    aliases: aliasesOf(labelsOf, entities),
    resolve: (name) => {
      const key = name.startsWith('<') || name.startsWith('_:') ? name : `<${name}>`;
      return entities.get(key) ?? relations.get(key) ?? name;
    },
    note: `inverses (~relation) were added; names are ${labels ? 'labels, else ' : ''}the last part of the IRI${blanks}`,
  };
}

function keyOf({ kind, value }: Term): string {
  return kind === 'iri' ? `<${value}>` : kind === 'blank' ? `_:${value}` : `"${value}`;
}

function renamed(raw: Graph, entities: ReadonlyMap<string, string>, relations: ReadonlyMap<string, string>): Graph {
  return new Graph(
    raw.name,
    raw.entityNames.map((key) => entities.get(key)!),
    raw.relationNames.map(
      (key) => relations.get(key) ?? inversePrefix + relations.get(key.slice(inversePrefix.length))!,
    ),
    raw,
    raw.madeFrom,
  );
}

function aliasesOf(labels: ReadonlyMap<string, readonly { text: string }[]>, entities: ReadonlyMap<string, string>) {
  return new Map(
    [...labels].flatMap(([key, found]) => {
      const name = entities.get(key);
      const further = [...new Set(found.map(({ text }) => text))].filter((text) => text !== name);
      return name !== undefined && further.length > 0 ? [[name, further]] : [];
    }),
  );
}
