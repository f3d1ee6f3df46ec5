/** Import of MOOCCube's structural part, with generated questions. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { GraphBuilder } from '../../src/kg/build-graph.js';
import { entitiesWith, executeChain } from '../../src/kg/frontier.js';
import { type Graph, unknownId } from '../../src/kg/graph.js';
import { WorkbenchError } from '../../src/run/errors.js';
import { Rng } from '../../src/run/seeds.js';
import type { Importer, ImportOptions } from '../importer.js';
import type { QuestionManifest } from '../questions/question-manifest.js';
import type { StoredQuestion } from '../questions/stored-question.js';
import { writeQuestionDataset } from '../questions/write-question-dataset.js';

/** Fixed for all users, so that tables are comparable. */
const generation = { count: 1000, seed: 0 };

const triplesFile = 'triples_structural.tsv';

/**
 * Reads `triples_structural.tsv` (`head TAB relation TAB tail`; concepts, fields, courses, schools, teachers) and generates statements
 * over one and two relations and queries over one. Names stay Chinese, questions are English.
 * @throws WorkbenchError `data` if triples or needed relations are missing
 */
export async function importMooc({ from, name = 'mooc', home }: ImportOptions): Promise<QuestionManifest> {
  const triples = join(from, triplesFile);
  if (!existsSync(triples)) {
    throw new WorkbenchError('data', `expected ${triplesFile}, got none, at ${from}`, {
      hint: 'Each line is head, relation and tail, separated by tabs; relations concept_major, prerequisite_of, school_offers_course, teacher_teaches_course.',
    });
  }
  const builder = new GraphBuilder();
  await builder.addFile(triples, {});
  const graph = builder.build('mooc', { addInverses: true });
  const questions = generateQuestions(graph, generation);
  return writeQuestionDataset(
    {
      ...{ name, format: 'mooc', licence: 'MOOCCube: as its authors state', labels: ['generated'] },
      graphs: [{ graph, note: 'the structural part of MOOCCube; questions are generated from the graph itself' }],
      subsets: Object.entries(questions).map(([subset, made]) => ({
        name: subset,
        graph: graph.name,
        files: { all: { questions: made } },
      })),
      sources: [triples],
    },
    home,
  );
}

/** Entry of `importers.ts`. */
export const mooc: Importer<'questions'> = { name: 'mooc', kind: 'questions', import: importMooc };

/** Relations from the topic on, direction-qualified, with a statement and a query: `{}` is the topic, `{claimed}` the claimed end. */
type QuestionForm = readonly [chain: readonly string[], statement: string, query?: string];

/** One relation from topic to answer. */
const oneHopForms: readonly QuestionForm[] = [
  [['concept_major'], 'the concept {} belongs to the field {claimed}', 'which field does the concept {} belong to'],
  [['prerequisite_of'], 'the concept {} is a prerequisite of {claimed}', 'which concepts require {} as a prerequisite'],
  [['~prerequisite_of'], 'the concept {} has the prerequisite {claimed}', 'which concepts are prerequisites of {}'],
  [['school_offers_course'], 'the school {} offers the course {claimed}', 'which courses does the school {} offer'],
  [['~school_offers_course'], 'the course {} is offered by the school {claimed}', 'which school offers the course {}'],
  [
    ['teacher_teaches_course'],
    'the teacher {} teaches the course {claimed}',
    'which courses does the teacher {} teach',
  ],
  [
    ['~teacher_teaches_course'],
    'the course {} is taught by the teacher {claimed}',
    'which teachers teach the course {}',
  ],
];

/** Two relations from topic to the claimed end. */
const multiHopForms: readonly QuestionForm[] = [
  [
    ['teacher_teaches_course', '~school_offers_course'],
    'the teacher {} teaches a course that the school {claimed} offers',
  ],
  [
    ['school_offers_course', '~teacher_teaches_course'],
    'the school {} offers a course that the teacher {claimed} teaches',
  ],
  [
    ['teacher_teaches_course', '~teacher_teaches_course'],
    'the teacher {} teaches a course together with the teacher {claimed}',
  ],
  [['prerequisite_of', 'prerequisite_of'], 'the concept {} is a prerequisite of a prerequisite of {claimed}'],
  [['prerequisite_of', 'concept_major'], 'the concept {} is a prerequisite of a concept of the field {claimed}'],
];

/** The three subsets of FiSKE's MOOC table. */
type MoocQuestions = Record<'1-hop-truth' | 'multi-hop-truth' | '1-hop-query', StoredQuestion[]>;

const maxAnswers = 20;

/** Draws topics until each type has its share, or the graph has no more. */
export function generateQuestions(graph: Graph, { count, seed }: typeof generation): MoocQuestions {
  const draw = (subset: keyof MoocQuestions, forms: readonly QuestionForm[]) =>
    forms.flatMap((form, f) => {
      const share = Math.floor((count * (f + 1)) / forms.length) - Math.floor((count * f) / forms.length);
      return questionsOf(graph, subset, form, share, Rng.named(seed, `mooc/${subset}/${form[0].join('/')}`));
    });
  return {
    '1-hop-truth': draw('1-hop-truth', oneHopForms),
    'multi-hop-truth': draw('multi-hop-truth', multiHopForms),
    '1-hop-query': draw('1-hop-query', oneHopForms),
  };
}

function questionsOf(
  graph: Graph,
  subset: keyof MoocQuestions,
  [relations, claim, query]: QuestionForm,
  share: number,
  rng: Rng,
): StoredQuestion[] {
  const chain = relations.map((relation) => graph.relationId(relation));
  if (chain.includes(unknownId)) return [];
  const topics = rng.shuffle(entitiesWith(graph, chain[0]!));
  const ends = entitiesWith(graph, graph.inverseOf[chain.at(-1)!]!);
  const questions: StoredQuestion[] = [];
  for (const topic of topics) {
    if (questions.length === share) break;
    const { entities } = executeChain(graph, [topic], chain);
    if (entities.length === 0) continue;
    const id = `${subset}/${relations.join('+')}/${questions.length}`;
    const type = relations.join(' → ');
    const name = graph.entityNames[topic]!;
    if (subset === '1-hop-query') {
      if (entities.length > maxAnswers) continue;
      const answers = Array.from(entities, (entity) => ({ name: graph.entityNames[entity]! }));
      questions.push({ id, ...withTopic(query!, name), answers, chains: [relations], type });
      continue;
    }
    const truth = questions.length % 2 === 0;
    const claimed = truth ? entities[rng.integer(entities.length)]! : falseEnd(ends, topic, entities, rng);
    if (claimed === undefined) continue;
    const claimedName = graph.entityNames[claimed]!;
    const statement = withTopic(`true or false: ${claim}`, name);
    const question = statement.question.replace('{claimed}', () => claimedName);
    questions.push({
      ...{ id, topics: statement.topics, question, answers: [], chains: [relations], type },
      ...{ form: 'truth', truth, claimed: claimedName },
    });
  }
  return questions;
}

/** Another tail of the same relation, so that false statements do not stand out by type. */
function falseEnd(ends: Int32Array, topic: number, reached: Int32Array, rng: Rng): number | undefined {
  const right = new Set(reached);
  for (let attempt = 0; attempt < 100; attempt++) {
    const end = ends[rng.integer(ends.length)]!;
    if (end !== topic && !right.has(end)) return end;
  }
  return undefined;
}

/** Text with the topic filled in. The topic precedes `{claimed}` in every form, so its span stays valid. */
function withTopic(text: string, name: string): Pick<StoredQuestion, 'question' | 'topics'> {
  const begin = text.indexOf('{}');
  const question = text.slice(0, begin) + name + text.slice(begin + 2);
  return { question, topics: [{ name, span: [begin, begin + name.length] }] };
}
