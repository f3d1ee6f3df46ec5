/** A graph from N-Triples, with names that people can read. */
import { GraphBuilder } from '../../src/kg/build-graph.js';
import { Graph, inversePrefix } from '../../src/kg/graph.js';
import { readLines } from '../../src/kg/read-lines.js';
import { printable } from '../../src/run/printable.js';
import { LineProblems } from '../importer.js';

export interface CustomGraph {
  graph: Graph;
  /** Further names, by the name in the graph. */
  aliases: ReadonlyMap<string, readonly string[]>;
  /** The graph's name of an entity or relation that was written as an IRI (with or without `<>`); other names unchanged. */
  resolve: (name: string) => string;
  /** What one must know before trusting a score on it. */
  note: string;
}

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

/** What stands in a statement. */
type Term =
  | { kind: 'iri'; value: string }
  | { kind: 'blank'; value: string }
  /** `language` in lower case, `''` for none; the data type is not kept. */
  | { kind: 'literal'; value: string; language: string };

type Statement = readonly [subject: Term, predicate: Term, object: Term];

const iri = String.raw`<((?:[^\x00-\x20<>"{}|^${'`'}\\]|\\u[0-9A-Fa-f]{4}|\\U[0-9A-Fa-f]{8})*)>`;
const blank = String.raw`_:([\p{L}\p{N}_](?:[\p{L}\p{N}\p{M}_.·-]*[\p{L}\p{N}\p{M}_·-])?)`;
const literal = String.raw`"((?:[^"\\\r\n]|\\[tbnrf"'\\]|\\u[0-9A-Fa-f]{4}|\\U[0-9A-Fa-f]{8})*)"(?:@([A-Za-z]+(?:-[A-Za-z0-9]+)*)|\^\^${iri})?`;
const space = String.raw`[ \t]*`;
const statement = new RegExp(
  `^${space}(?:${iri}|${blank})${space}${iri}${space}(?:${iri}|${blank}|${literal})${space}\\.${space}(?:#.*)?$`,
  'u',
);
const nothing = /^[ \t]*(?:#.*)?$/;

/**
 * Parses one line. @returns the statement, `undefined` for an empty line or a comment, or what was expected where it is broken
 */
export function parseStatement(line: string): Statement | undefined | string {
  if (nothing.test(line)) return undefined;
  const match = statement.exec(line);
  if (!match) return 'expected <subject> <predicate> <object> or "literal", then a dot';
  const [, subject, subjectBlank, predicate, object, objectBlank, text, language] = match;
  try {
    return [
      subject === undefined ? { kind: 'blank', value: subjectBlank! } : { kind: 'iri', value: unescaped(subject) },
      { kind: 'iri', value: unescaped(predicate!) },
      object !== undefined
        ? { kind: 'iri', value: unescaped(object) }
        : objectBlank !== undefined
          ? { kind: 'blank', value: objectBlank }
          : { kind: 'literal', value: unescaped(text!), language: language?.toLowerCase() ?? '' },
    ];
  } catch (error) {
    if (error instanceof RangeError) return 'expected escapes of Unicode characters, got one that is none';
    throw error;
  }
}

const characters: Readonly<Record<string, string>> = { t: '\t', b: '\b', n: '\n', r: '\r', f: '\f' };

/** @throws RangeError for an escape beyond U+10FFFF or of a surrogate */
function unescaped(text: string): string {
  return text.replace(
    /\\(?:u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|(.))/gu,
    (_, short?: string, long?: string, one?: string) => {
      if (one !== undefined) return characters[one] ?? one;
      const code = parseInt((short ?? long)!, 16);
      if (code >= 0xd800 && code <= 0xdfff) throw new RangeError('half of a surrogate pair');
      return String.fromCodePoint(code);
    },
  );
}

/** What is known of one term of an RDF graph, by its key: `<iri>`, `_:blank` or `"literal`. */
interface NamedTerm {
  key: string;
  /** The name it would have if it were alone. */
  wanted: string;
}

/** The part of an IRI after its last `/`, `#` or `:`, decoded; the whole IRI where that is empty. */
export function localName(iri: string): string {
  // By places, as an expression that is tried at every place takes the square of the length.
  const name = iri.slice(1 + Math.max(...['/', '#', ':'].map((mark) => iri.lastIndexOf(mark))));
  if (name === '') return iri;
  try {
    return decodeURIComponent(name);
  } catch {
    return name;
  }
}

/**
 * A name for every key, all different: the wanted one where nobody else wants it; literals always keep theirs; others that share one
 * become `wanted (local name)`, and where even that is taken, the key itself (with
 * stars, should it be the text of a literal).
 */
export function distinctNames(terms: readonly NamedTerm[]): Map<string, string> {
  const wanting = new Map<string, number>();
  for (const { wanted } of terms) wanting.set(wanted, (wanting.get(wanted) ?? 0) + 1);
  const names = new Map<string, string>();
  const taken = new Set<string>();
  const take = (key: string, name: string) => {
    names.set(key, name);
    taken.add(name);
  };
  for (const { key, wanted } of terms) if (key.startsWith('"') || wanting.get(wanted) === 1) take(key, wanted);
  for (const { key, wanted } of terms) {
    if (names.has(key)) continue;
    const qualified = key.startsWith('<') ? `${wanted} (${localName(key.slice(1, -1))})` : key;
    let name = taken.has(qualified) ? key : qualified;
    while (taken.has(name)) name += '*';
    take(key, name);
  }
  return names;
}
