/** Graphs from RDF, with readable names. */
import type { Parser, Quad, Term } from 'n3';
import { GraphBuilder } from '../../src/kg/build-graph.js';
import { Graph, inversePrefix } from '../../src/kg/graph.js';
import { readLines } from '../../src/kg/read-lines.js';
import { WorkbenchError } from '../../src/run/errors.js';
import { printable } from '../../src/run/printable.js';
import { listed } from '../import-notes.js';
import { type ImportReport, LineProblems, repeatedNote } from '../importer.js';

/** A graph with the names that its file has for things. */
export interface CustomGraph {
  graph: Graph;
  /** Further names, by the name in the graph. */
  aliases: ReadonlyMap<string, readonly string[]>;
  /** Graph name of an entity or relation given as an IRI (with or without `<>`); other names unchanged. */
  resolve: (name: string) => string;
  /** Changes made to the data, for its manifest. */
  note: string;
}

/** Ranks of properties whose literals name their subject; see `languageRank` for the steps between. */
const nameRanks: ReadonlyMap<string, number> = new Map([
  ['http://www.w3.org/2000/01/rdf-schema#label', 0],
  ['http://www.w3.org/2004/02/skos/core#prefLabel', 0],
  ['http://schema.org/name', 4],
  ['https://schema.org/name', 4],
  ['http://xmlns.com/foaf/0.1/name', 4],
  ['http://www.w3.org/2004/02/skos/core#altLabel', 8],
]);

/** English first, then its variants, no language, other languages. */
const languageRank = (language = '') =>
  language === 'en' ? 0 : language.startsWith('en-') ? 1 : language === '' ? 2 : 3;

/**
 * Reads N-Triples (`.nt`) or Turtle (`.ttl`). Nodes are IRIs, blank nodes and literals (by text; language and data type are dropped, as are
 * blank texts). A name is the label (`rdfs:label`, `skos:prefLabel`) of the best language, else `schema:name` or `foaf:name`, else the last
 * part of the IRI; `distinctNames` makes names unique. Further names are aliases. Labels are no edges; `schema:name` and `foaf:name` are.
 * @throws WorkbenchError `data` with every broken line of N-Triples, or the first error of Turtle
 */
export async function readRdf(file: string, labels: boolean, report?: ImportReport): Promise<CustomGraph> {
  const builder = new GraphBuilder();
  const add = builder.sinkOf(file);
  const labelsOf = new Map<string, { text: string; rank: number }[]>();
  let blankLiterals = 0;
  const read = /\.ttl(\.gz)?$/.test(file) ? readTurtle : readNTriples;
  const take = ({ subject, predicate, object }: Quad) => {
    const isLiteral = object.termType === 'Literal';
    if (isLiteral && object.value.trim() === '') return void blankLiterals++;
    const rank = labels && isLiteral ? nameRanks.get(predicate.value) : undefined;
    if (rank !== undefined) {
      const known = labelsOf.get(keyOf(subject)) ?? [];
      labelsOf.set(keyOf(subject), [...known, { text: object.value, rank: rank + languageRank(object.language) }]);
    }
    if (rank === undefined || (rank >= 4 && rank < 8)) add(keyOf(subject), keyOf(predicate), keyOf(object));
  };
  await read(file, take, report);
  const raw = builder.build('graph', { addInverses: true });
  for (const found of labelsOf.values()) found.sort((a, b) => a.rank - b.rank);
  const wanted = (key: string) => {
    const [best] = labelsOf.get(key) ?? [];
    if (best && best.rank < 8) return best.text;
    return key.startsWith('"') ? key.slice(1) : key.startsWith('<') ? localName(key.slice(1, -1)) : key;
  };
  const named = (keys: readonly string[]) => distinctNames(keys.map((key) => ({ key, wanted: wanted(key) })));
  const entities = named(raw.entityNames);
  const relations = named(raw.relationNames.filter((relation) => !relation.startsWith(inversePrefix)));
  const renamedTexts = [...entities].filter(([key, name]) => key.startsWith('"') && name !== key.slice(1));
  const more = [
    repeatedNote(builder, raw),
    blankLiterals > 0 ? `; ${blankLiterals} blank literals left out` : '',
    renamedTexts.length > 0
      ? `; ${renamedTexts.length} literals have the text of an entity's name and are told apart: ${listed(renamedTexts.map(([, name]) => name))}`
      : '',
  ];
  return {
    graph: renamed(raw, entities, relations),
    aliases: aliasesOf(labelsOf, entities),
    resolve: (name) => {
      const key = name.startsWith('<') || name.startsWith('_:') ? name : `<${name}>`;
      return entities.get(key) ?? relations.get(key) ?? name;
    },
    note: `inverses (~relation) were added; names are ${labels ? 'labels, else ' : ''}the last part of the IRI${more.join('')}`,
  };
}

/** Line by line, so that all broken lines are found. */
async function readNTriples(file: string, take: (quad: Quad) => void, report?: ImportReport): Promise<void> {
  const parser = await openParser();
  const problems = new LineProblems(file, report);
  const parsed = (text: string, line: number): Quad[] => {
    try {
      // Turtle also has directives and lists, which begin with other characters.
      if (!/^[ \t]*(?:<(?!<)|_:)/.test(text)) throw new Error('no subject');
      const quads = parser.parse(withoutTextTypes(text));
      if (quads.some(hasTripleTerm)) throw new Error(tripleTerm);
      return quads;
    } catch (error) {
      const got = `${printable(JSON.stringify(text), 80)} (${reasonOf(error as Error)})`;
      problems.add(line, `expected <subject> <predicate> <object> or "literal", then a dot, got ${got}`);
      return [];
    }
  };
  await readLines(file, 'N-Triples', (text, line) => {
    if (!/^[ \t]*(?:#|$)/.test(text)) parsed(text, line).forEach(take);
  });
  problems.throwIfAny();
}

/** Drops the data type that DBpedia writes after texts without a language, and RDF forbids there. */
const withoutTextTypes = (line: string) =>
  line.replace(/(?<=[^\\]["'])\^\^(?:rdf:|<http:\/\/www\.w3\.org\/1999\/02\/22-rdf-syntax-ns#)langString\b>?/g, '');

/** Memory bounds: characters of a multi-line token, nesting of brackets. */
const longestToken = 2 ** 20;
const deepestBrackets = 1000;

async function readTurtle(file: string, take: (quad: Quad) => void): Promise<void> {
  const listeners: Record<string, (text: string) => void> = {};
  let line = 0;
  let pending = 0;
  let depth = 0;
  const refuse = (got: string, at = line): never => {
    throw new WorkbenchError('data', `expected Turtle, got ${got}, at ${file}:${at}`, {
      hint: 'Nothing was imported. Correct the statement that ends on this line. Of N-Triples (.nt), --skip-broken leaves broken lines out.',
    });
  };
  (await openParser()).parse(
    { on: (event, listener) => (listeners[event] = listener) },
    {
      onQuad(error, quad) {
        if (error) refuse(JSON.stringify(reasonOf(error)), Math.min(error.context?.line ?? line, line));
        if (!quad) return;
        if (hasTripleTerm(quad)) refuse(tripleTerm);
        take(quad);
      },
      // Comments then count as tokens.
      onComment() {},
      onToken({ type }) {
        pending = 0;
        depth += Number('[('.includes(type)) - Number('])'.includes(type));
        if (depth > deepestBrackets) refuse(`more than ${deepestBrackets} open brackets`);
      },
    },
  );
  await readLines(file, 'Turtle', (text, number) => {
    line = number;
    pending += text.length + 1;
    listeners.data!(`${withoutTextTypes(text)}\n`);
    if (pending > longestToken) refuse(`a text of more than ${longestToken} characters`);
  });
  listeners.end!('');
}

/** Parser that keeps blank-node labels; anonymous nodes are numbered `[1]`, which is not a valid label. */
async function openParser(): Promise<Parser> {
  const { DataFactory, Parser } = await import('n3');
  let unnamed = 0;
  const blankNode = (name?: string) => DataFactory.blankNode(name ?? `[${++unnamed}]`);
  return new Parser({ format: 'text/turtle', blankNodePrefix: '', factory: { ...DataFactory, blankNode } });
}

const tripleTerm = 'a statement about a statement';
const hasTripleTerm = ({ subject, object }: Quad) => subject.termType === 'Quad' || object.termType === 'Quad';

/** n3's message without its line, which callers add. */
const reasonOf = ({ message }: Error) => printable(message.replace(/ on line \d+\.$/, ''), 100);

function keyOf({ termType, value }: Term): string {
  return termType === 'NamedNode' ? `<${value}>` : termType === 'BlankNode' ? `_:${value}` : `"${value}`;
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

interface NamedTerm {
  /** `<iri>`, `_:blank` or `"literal`. */
  key: string;
  /** Its name if no other term has the same. */
  wanted: string;
}

/** The part of an IRI after its last `/`, `#` or `:`, decoded; the whole IRI where that is empty. */
export function localName(iri: string): string {
  // Not by a regular expression, which would take quadratic time.
  const name = iri.slice(1 + Math.max(...['/', '#', ':'].map((mark) => iri.lastIndexOf(mark))));
  if (name === '') return iri;
  try {
    return decodeURIComponent(name);
  } catch {
    return name;
  }
}

/**
 * Unique names by key. An entity has the wanted name if no other entity wants it, else `wanted (local name)`, else its key; a literal its
 * text, else `text (text)`. What is still taken gets a `*`.
 */
export function distinctNames(terms: readonly NamedTerm[]): Map<string, string> {
  const isText = ({ key }: NamedTerm) => key.startsWith('"');
  const wanting = new Map<string, number>();
  for (const { wanted } of terms.filter((term) => !isText(term))) wanting.set(wanted, (wanting.get(wanted) ?? 0) + 1);
  const names = new Map<string, string>();
  const taken = new Set<string>();
  const take = (key: string, ...choices: readonly string[]) => {
    let name = choices.find((choice) => !taken.has(choice)) ?? choices.at(-1)!;
    while (taken.has(name)) name += '*';
    names.set(key, name);
    taken.add(name);
  };
  const [alone, homonyms] = [true, false].map((only) =>
    terms.filter((term) => !isText(term) && (wanting.get(term.wanted) === 1) === only),
  );
  for (const { key, wanted } of alone!) take(key, wanted);
  for (const { key, wanted } of homonyms!) {
    take(key, ...(key.startsWith('<') ? [`${wanted} (${localName(key.slice(1, -1))})`, key] : [key]));
  }
  for (const { key, wanted } of terms.filter(isText)) {
    take(key, ...(wanting.has(wanted) ? [] : [wanted]), `${wanted} (text)`);
  }
  return names;
}
