/** The file of words for a graph's relations: written for its owner to read, correct and add to. */
import { parse, stringify } from 'yaml';
import { z } from 'zod';
import { type Graph, inversePrefix } from '../../src/kg/graph.js';
import { WorkbenchError } from '../../src/run/errors.js';
import { readTextFile } from '../../src/run/files.js';
import { nearestName, printable } from '../../src/run/printable.js';
import { ownWords, type RelationWords, wordSources, type Words } from './relation-words.js';

const word = z.string().trim().min(1).max(80);
/** Words with their sources; a plain list is the owner's. */
const words = z
  .union([z.record(word, z.enum(wordSources)), z.array(word), z.null()])
  .default({})
  .transform((some): Words =>
    Array.isArray(some) ? Object.fromEntries(some.map((one) => [one, 'owner'])) : (some ?? {}),
  );

const relationSchema: z.ZodType<RelationWords, unknown> = z.strictObject({
  ...{ tailIs: words, headIs: words, tailDoes: words, headDoes: words, head: words, tail: words },
});

const fileSchema = z.strictObject({
  vocabulary: z.string().optional(),
  relations: z.record(z.string(), relationSchema),
});

const heading = `What the relations of a graph are called in questions. Read, correct, delete, add: then \`kgwalk questions make\`.
  tailIs: the tail is the … of the head      tailDoes: the tail …s the head       tail: kinds of things at the tail
  headIs: the head is the … of the tail      headDoes: the head …s the tail       head: kinds of things at the head
Nouns in the singular, verbs in their base form with what follows them (direct, play for, be born in). Behind each word stands where it came
from: name, vocabulary, model, paraphrase or owner; a plain list such as [birthplace, home town] is taken as the owner's.`;

/** True where there is no word for a relation: of `p17` there is none. */
export const saysNothing = (words: RelationWords): boolean => ownWords(words).every((one) => !/\p{L}{3}/u.test(one));

/** Relations whose names say too little: no word at all, or only such that another relation has as well. */
export function unclearRelations(all: ReadonlyMap<string, RelationWords>): string[] {
  const nouns = [...all].flatMap(([name, { tailIs, headIs }]) =>
    Object.keys({ ...tailIs, ...headIs }).map((noun) => ({ name, noun })),
  );
  return [...all].flatMap(([name, words]) => {
    const others = new Set(nouns.flatMap((one) => (one.name === name ? [] : one.noun)));
    return saysNothing(words) || ownWords(words).every((one) => others.has(one)) ? [name] : [];
  });
}

/** Text of the file: relations whose names say too little come first, marked. */
export function writeWords(all: ReadonlyMap<string, RelationWords>, vocabulary: string): string {
  const unclear = new Set(unclearRelations(all));
  const shown = (name: string) => [
    name,
    Object.fromEntries(Object.entries(all.get(name)!).filter(([, some]) => Object.keys(some).length > 0)),
  ];
  const part = (names: readonly string[]) =>
    stringify(Object.fromEntries(names.map(shown)), {
      flowCollectionPadding: false,
      collectionStyle: 'any',
      lineWidth: 0,
    });
  const comment = (text: string) => text.replace(/^/gm, '# ');
  const indented = (text: string) => text.replace(/^(?=.)/gm, '  ');
  const clear = [...all.keys()].filter((name) => !unclear.has(name));
  return [
    comment(heading),
    stringify({ vocabulary }).trimEnd(),
    'relations:',
    ...(unclear.size === 0
      ? []
      : [
          comment('  What these mean, their names do not say: write what people call them.'),
          indented(part([...unclear]).trimEnd()),
        ]),
    ...(clear.length === 0 ? [] : [indented(part(clear).trimEnd())]),
    '',
  ].join('\n');
}

/**
 * Reads the file for a graph. Relations that it leaves out have no words, so that no question names them.
 * @throws WorkbenchError `data` for a broken file, or relations that the graph lacks
 */
export function readWords(file: string, { relationNames }: Pick<Graph, 'relationNames'>): Map<string, RelationWords> {
  let content: unknown;
  try {
    content = parse(readTextFile(file, 'words of relations'));
  } catch (error) {
    if (error instanceof WorkbenchError) throw error;
    throw broken(file, (error as Error).message.split('\n')[0]!);
  }
  const parsed = fileSchema.safeParse(content);
  if (!parsed.success)
    throw broken(file, parsed.error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`).join('; '));
  const names = relationNames.filter((name) => !name.startsWith(inversePrefix));
  for (const name of Object.keys(parsed.data.relations)) {
    if (names.includes(name)) continue;
    const near = nearestName(name, names);
    throw broken(
      file,
      `no relation ${JSON.stringify(printable(name, 80))} in the graph${near === undefined ? '' : `; did you mean ${JSON.stringify(near)}?`}`,
    );
  }
  return new Map(Object.entries(parsed.data.relations));
}

function broken(file: string, got: string): WorkbenchError {
  const hint = 'kgwalk questions words GRAPH writes a file to begin with.';
  return new WorkbenchError('data', `expected words of relations, got ${printable(got, 300)}, at ${file}`, { hint });
}
