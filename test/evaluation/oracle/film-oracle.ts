/** The simulated model over the toy graph of films, asked by decisions. */
import type { QuestionSample } from '../../../datasets/question.js';
import { openOracle } from '../../../evaluation/oracle/open-oracle.js';
import type { Candidate, Decision, PathsDecision, ReplyOf } from '../../../src/llm/decision.js';
import { readReply } from '../../../src/llm/decisions/reply-forms.js';
import { renderPrompt } from '../../../src/llm/decisions/render-prompt.js';
import type { LanguageModel } from '../../../src/llm/language-model.js';
import { filmGraph, filmQuestions, questionOf } from '../../fixtures/toy-questions.js';

export const films = filmGraph();
export const id = (name: string) => films.entityId(name);
const relationId = (name: string) => films.relationId(name);

/** A claim about `topic`: that the chain leads to `claimed`. */
function claim(name: string, topic: string, chain: readonly string[], claimed: string, truth: boolean): QuestionSample {
  const { task, gold } = questionOf(films, name, `true or false: [${topic}] … ${claimed}`, chain, []);
  return { task: { ...task, form: 'truth' }, gold: { ...gold, truth, claimed: id(claimed) } };
}

const unchained = questionOf(films, 'unchained', 'who made [juno]', [], ['reitman', '2007']);
const far = questionOf(films, 'far', 'what about [juno]', [], ['hardy']);
const literal = questionOf(films, 'literal', 'what of [juno]', [], ['a name that is not in the graph']);

export const questions: QuestionSample[] = [
  ...filmQuestions(films),
  claim('right-claim', 'tenet', ['directed_by', '~directed_by'], 'dunkirk', true),
  claim('wrong-claim', 'tenet', ['directed_by', '~directed_by'], 'juno', false),
  ...[unchained, far, literal].map(({ task, gold }) => ({ task, gold: { ...gold, chains: [] } })),
];

export const oracle = (error = 0, seed = 3) => openOracle({ graph: films, samples: questions, error, seed });

export const relations = (...names: string[]): Candidate[] =>
  names.map((name) => ({ kind: 'relation', relation: relationId(name), text: name }));
export const entities = (relation: string, ...names: string[]): Candidate[] =>
  names.map((name) => ({ kind: 'entity', entity: id(name), relation: relationId(relation), text: name }));
export const chain = (names: readonly string[], answers: readonly string[] = []): Candidate => ({
  kind: 'chain',
  relations: names.map(relationId),
  answers: answers.map(id),
  text: names.join(' → '),
});

/** Paths by the names of their entities and relations in turn. */
export function filmPaths(...paths: string[][]): Pick<PathsDecision, 'allowed' | 'entityName' | 'relationName'> {
  return {
    allowed: paths.map((names) =>
      Array.from(
        { length: (names.length - 1) / 2 },
        (_, hop) => [id(names[2 * hop]!), relationId(names[2 * hop + 1]!), id(names[2 * hop + 2]!)] as const,
      ),
    ),
    entityName: (entity) => films.entityNames[entity]!,
    relationName: (relation) => films.relationNames[relation]!,
  };
}

/** Reply of the model, read by the production parser, which must find nothing to repair. */
export async function replyTo<D extends Decision>(model: LanguageModel, decision: D): Promise<ReplyOf<D>> {
  const request = { ...renderPrompt(decision), maxTokens: 400, temperature: 0, seed: 0, attempt: 0, decision };
  const { text } = await model.complete(request);
  const read = readReply(decision, text, { constrained: true });
  if (read?.stage !== 'constrained') throw new TypeError(`expected a valid reply, got ${text}`);
  return read.reply;
}
