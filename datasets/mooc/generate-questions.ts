/** Makes questions over a MOOC graph: seeded, spread evenly over the kinds, statements true and false in equal parts. */
import { executeChain, relationRange } from '../../src/kg/frontier.js';
import { unknownId, type Graph } from '../../src/kg/graph.js';
import { Rng } from '../../src/run/seeds.js';
import type { StoredQuestion } from '../questions/stored-question.js';
import { multiHopForms, oneHopForms, type QuestionForm } from './question-forms.js';

/** How many questions, from which seed. */
export interface GenerateOptions {
  /** Questions of each subset. */
  count: number;
  seed: number;
}

/** The three subsets of FiSKE's MOOC table. */
export interface MoocQuestions {
  '1-hop-truth': StoredQuestion[];
  'multi-hop-truth': StoredQuestion[];
  '1-hop-query': StoredQuestion[];
}

/** Answers a query may have: longer lists say nothing of an agent. */
const maxAnswers = 20;

/** Draws topics until a kind has its share; a kind that the graph has too little of gives fewer. */
export function generateQuestions(graph: Graph, { count, seed }: GenerateOptions): MoocQuestions {
  const draw = (subset: keyof MoocQuestions, forms: readonly QuestionForm[]) =>
    forms.flatMap((form, f) => {
      const share = Math.floor((count * (f + 1)) / forms.length) - Math.floor((count * f) / forms.length);
      return questionsOf(graph, subset, form, share, Rng.named(seed, `mooc/${subset}/${form.chain.join('/')}`));
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
  form: QuestionForm,
  share: number,
  rng: Rng,
): StoredQuestion[] {
  const chain = form.chain.map((relation) => graph.relationId(relation));
  if (chain.includes(unknownId)) return [];
  const topics = rng.shuffle(subjectsOf(graph, chain[0]!));
  const ends = subjectsOf(graph, graph.inverseOf[chain.at(-1)!]!);
  const questions: StoredQuestion[] = [];
  for (const topic of topics) {
    if (questions.length === share) break;
    const { entities } = executeChain(graph, [topic], chain);
    if (entities.length === 0) continue;
    const id = `${subset}/${form.chain.join('+')}/${questions.length}`;
    const type = form.chain.join(' → ');
    const name = graph.entityNames[topic]!;
    if (subset === '1-hop-query') {
      if (entities.length > maxAnswers) continue;
      const answers = Array.from(entities, (entity) => ({ name: graph.entityNames[entity]! }));
      questions.push({ id, ...withTopic(form.query, name), answers, chains: [form.chain], type });
      continue;
    }
    const truth = questions.length % 2 === 0;
    const claimed = truth ? entities[rng.integer(entities.length)]! : falseEnd(ends, topic, entities, rng);
    if (claimed === undefined) continue;
    const claimedName = graph.entityNames[claimed]!;
    const statement = withTopic(`true or false: ${form.statement}`, name);
    questions.push({
      id,
      topics: statement.topics,
      question: statement.question.replace('{claimed}', () => claimedName),
      answers: [],
      chains: [form.chain],
      type,
      form: 'truth',
      truth,
      claimed: claimedName,
    });
  }
  return questions;
}

/** Another end of the same relation, so that a false statement is false by what it says and not by its kind. */
function falseEnd(ends: Int32Array, topic: number, reached: Int32Array, rng: Rng): number | undefined {
  const right = new Set(reached);
  for (let attempt = 0; attempt < 100; attempt++) {
    const end = ends[rng.integer(ends.length)]!;
    if (end !== topic && !right.has(end)) return end;
  }
  return undefined;
}

/** Entities with an edge of this relation, ascending. */
function subjectsOf(graph: Graph, relation: number): Int32Array {
  return Int32Array.from({ length: graph.numEntities }, (_, entity) => entity).filter((entity) => {
    const [begin, end] = relationRange(graph, entity, relation);
    return end > begin;
  });
}

/** The text with the topic in its place. The topic stands before `{claimed}` in every form, so its place stays. */
function withTopic(text: string, name: string): Pick<StoredQuestion, 'question' | 'topics'> {
  const begin = text.indexOf('{}');
  const question = text.slice(0, begin) + name + text.slice(begin + 2);
  return { question, topics: [{ name, span: [begin, begin + name.length] }] };
}
