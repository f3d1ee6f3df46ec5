/** Custom questions: one JSON object per line. */
import { z } from 'zod';
import type { Graph } from '../../src/kg/graph.js';
import { NameIndex } from '../../src/kg/name-index.js';
import { nearestName, printable } from '../../src/run/printable.js';
import { partName } from '../imported-dataset.js';
import { listed } from '../import-notes.js';
import { type ImportReport, LineProblems, textRows } from '../importer.js';
import { locatedTopic, markedTopics, type StoredQuestion } from '../questions/stored-question.js';
import type { ImportedFile } from '../questions/write-question-dataset.js';
import type { CustomGraph } from './read-rdf.js';

const name = z.string().min(1).max(2000);

const lineSchema = z
  .strictObject({
    /** Default `q-` and the line number, from 0. */
    id: z.string().min(1).max(200).optional(),
    /** Topics in brackets if `topics` is absent. */
    question: z.string().min(1),
    /** Topic entities of the graph. */
    topics: z.array(name).optional(),
    answers: z.array(name).default([]),
    aliases: z.record(z.string(), z.array(name)).default({}),
    /** Relations from topic to answer; `~relation` for the inverse. */
    chain: z.array(name).min(1).optional(),
    type: name.optional(),
    /** Only if agents may see it. */
    hops: z.int().min(1).max(9).optional(),
    /** On every line or none; without it, questions are partitioned by hash. */
    split: partName.optional(),
    form: z.enum(['entities', 'truth']).default('entities'),
    /** `truth` questions: the correct verdict. */
    truth: z.boolean().optional(),
    /** `truth` questions: the claimed end of the chain. */
    claimed: name.optional(),
  })
  .refine(({ form, truth }) => (form === 'truth') === (truth !== undefined), {
    message: 'a question has "truth" exactly where its form is "truth"',
  });

/**
 * Questions by split (`all` if none is given). Names may be IRIs if the graph is RDF. Entity questions without answers are dropped and
 * counted; topics and answers missing from the graph are kept.
 * @throws WorkbenchError `data` that lists every broken line: JSON, keys, repeated ids, relations missing from the graph, a missing split
 */
export function readCustomQuestions(
  file: string,
  { graph, aliases, resolve: named }: Pick<CustomGraph, 'graph' | 'resolve'> & Partial<CustomGraph>,
  report: ImportReport = { notes: [] },
): Record<string, ImportedFile> {
  const problems = new LineProblems(file, report);
  const { resolve, notes } = entityResolver(graph, aliases, named);
  const files = new Map<string, { questions: StoredQuestion[]; dropped: { 'no answer': number } }>();
  const lineOfId = new Map<string, number>();
  let firstSplit: { named: boolean } | undefined;
  textRows(file, 'questions (JSON, one a line)').forEach((row, index) => {
    if (row.trim() === '') return;
    const parsed = parsedLine(row, lineSchema);
    if (typeof parsed === 'string') {
      const hint = /"[qa]_entity"/.test(parsed) ? ' (rows of RoG: kgwalk datasets import rog)' : '';
      problems.add(index + 1, parsed + hint);
      return;
    }
    const { id = `q-${index}`, split = 'all', form, chain, answers } = parsed;
    const earlier = lineOfId.get(id);
    lineOfId.set(id, index + 1);
    firstSplit ??= { named: parsed.split !== undefined };
    const relations = chain?.map(resolveRelation);
    const unknown = relations?.find((relation) => graph.relationId(relation) < 0);
    if (earlier !== undefined) problems.add(index + 1, `expected a unique id, got that of line ${earlier}`);
    else if (firstSplit.named !== (parsed.split !== undefined)) {
      problems.add(index + 1, 'expected "split" on every line or on none');
    } else if (unknown !== undefined) problems.add(index + 1, unknownRelation(unknown));
    else {
      const into = files.get(split) ?? { questions: [], dropped: { 'no answer': 0 } };
      files.set(split, into);
      if (form === 'entities' && answers.length === 0) into.dropped['no answer']++;
      else into.questions.push(storedQuestion(id, parsed, resolve, relations));
    }
  });
  problems.throwIfAny();
  report.notes.push(...notes());
  return Object.fromEntries(files);

  function resolveRelation(relation: string): string {
    return relation.startsWith('~') ? `~${named(relation.slice(1))}` : named(relation);
  }

  function unknownRelation(relation: string): string {
    const near = nearestName(relation, graph.relationNames);
    const meant = near === undefined ? '' : `; did you mean "${printable(near, 80)}"?`;
    return `expected a relation of the graph, got "${printable(relation, 80)}"${meant}`;
  }
}

/**
 * Graph names of entities: as written, else by an alias or another spelling as `ask` finds them, if that is one entity's.
 * @param aliases by graph name
 * @param named graph name of an IRI
 */
export function entityResolver(
  graph: Graph,
  aliases: CustomGraph['aliases'] = new Map(),
  named = (name: string) => name,
): { resolve: (name: string) => string; notes: () => string[] } {
  let index: NameIndex | undefined;
  const candidates = new Map<string, readonly string[]>();
  const candidatesOf = (name: string): readonly string[] => {
    index ??= new NameIndex(graph, new Map([...aliases].map(([entity, names]) => [graph.entityId(entity), names])));
    const alike = index.find(name).map((entity) => graph.entityNames[entity]!);
    const exact = alike.filter((entity) => aliases.get(entity)?.includes(name));
    return exact.length > 0 ? exact : alike;
  };
  const noteOf = (what: string, has: (count: number) => boolean) => {
    const some = [...candidates].filter(([, names]) => has(names.length));
    const shown = some.map(([name, names]) => `${name} → ${names.slice(0, 3).join(' or ')}`);
    return some.length === 0 ? [] : [`names in questions ${what}, ${some.length}: ${listed(shown)}`];
  };
  return {
    resolve(written) {
      const name = named(written);
      if (graph.entityId(name) >= 0) return name;
      if (!candidates.has(name)) candidates.set(name, candidatesOf(name));
      const [only, ...others] = candidates.get(name)!;
      return only === undefined || others.length > 0 ? name : only;
    },
    notes: () => [
      ...noteOf('that were found by an alias or another spelling', (count) => count === 1),
      ...noteOf('that several entities have, which count as not in the graph', (count) => count > 1),
    ],
  };
}

type CustomLine = z.output<typeof lineSchema>;

/** Object of a line, or what is wrong with it. */
export function parsedLine<T>(row: string, schema: z.ZodType<T>): T | string {
  let json: unknown;
  try {
    json = JSON.parse(row);
  } catch {
    return `expected a JSON object, got ${printable(row, 80)}`;
  }
  const parsed = schema.safeParse(json);
  if (parsed.success) return parsed.data;
  const issues = parsed.error.issues.map(({ path, message }) => [path.join('.'), message].filter(Boolean).join(': '));
  return printable(issues.join('; '), 300);
}

function storedQuestion(
  id: string,
  line: CustomLine,
  resolve: (name: string) => string,
  chain: string[] | undefined,
): StoredQuestion {
  const { type, hops, form, truth, claimed, aliases } = line;
  const marked = line.topics ? undefined : markedTopics(line.question);
  const topics = marked
    ? marked.topics.map((topic) => ({ ...topic, name: resolve(topic.name) }))
    : (line.topics ?? []).map((topic) => located(line.question, topic, resolve(topic)));
  const written = new Map(line.answers.map((answer) => [resolve(answer), answer]));
  return {
    id,
    question: marked?.question ?? line.question,
    topics,
    answers: [...written].map(([name, answer]) => {
      return { name, aliases: Object.hasOwn(aliases, answer) ? aliases[answer] : undefined };
    }),
    chains: chain && [chain],
    ...{ type, hops, form: form === 'truth' ? form : undefined, truth },
    claimed: claimed === undefined ? undefined : resolve(claimed),
  };
}

/** The text may show the topic as written in the file or as named in the graph. */
function located(question: string, written: string, name: string): StoredQuestion['topics'][number] {
  const topic = locatedTopic(question, name);
  return topic.span ? topic : { ...locatedTopic(question, written), name };
}
