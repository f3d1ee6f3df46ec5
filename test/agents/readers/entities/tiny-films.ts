/** A graph of films, people and genres, and questions of one and two facts about it. */
import type { QuestionSample } from '../../../../datasets/question.js';
import type { ReaderFacts } from '../../../../agents/readers/facts.js';
import { readerSettings } from '../../../../agents/readers/settings.js';
import { hashedEncoder } from '../../../../src/encoder/hashed-encoder.js';
import { Graph } from '../../../../src/kg/graph.js';

const films = 6;
const names = [
  ...Array.from({ length: films }, (_, i) => `film ${i}`),
  ...['ann', 'bob', 'cy'],
  ...['war', 'comedy', 'crime', 'music'],
];
const entity = (name: string) => names.indexOf(name);

/** Film i is by one person and has one genre, every third two. */
const facts = Array.from({ length: films }, (_, i) => [
  ['directed', `film ${i}`, ['ann', 'bob', 'cy'][i % 3]!],
  ['genre', `film ${i}`, ['war', 'comedy', 'crime', 'music'][i % 4]!],
  ...(i % 3 === 0 ? [['genre', `film ${i}`, 'music']] : []),
]).flat() as [string, string, string][];
const relations = ['directed', 'genre'];

export const tinyFilms = new Graph('films', names, relations, {
  heads: Int32Array.from(facts, ([, head]) => entity(head)),
  relations: Int32Array.from(facts, ([relation]) => relations.indexOf(relation)),
  tails: Int32Array.from(facts, ([, , tail]) => entity(tail)),
});

function sample(id: string, text: string, topic: string, answers: readonly string[]): QuestionSample {
  const begin = text.indexOf('[E]');
  const question = text.replace('[E]', topic);
  const topics = [{ name: topic, entity: entity(topic), span: [begin, begin + topic.length] as const }];
  return {
    task: { id, subset: 'tiny', question, topics, form: 'entities' },
    gold: { answers: [...new Set(answers)].map((name) => ({ name, entity: entity(name) })), chains: [[0]] },
  };
}

const tailsOf = (relation: string, head: string) =>
  facts.filter(([r, h]) => r === relation && h === head).map(([, , tail]) => tail);
const headsOf = (relation: string, tail: string) =>
  facts.filter(([r, , t]) => r === relation && t === tail).map(([, head]) => head);

/** Questions for directors, genres, and genres of a person's films. */
export const tinyQuestions: QuestionSample[] = [
  ...names
    .slice(0, films)
    .flatMap((film, i) => [
      sample(`d-${i}`, 'who directed [E]', film, tailsOf('directed', film)),
      sample(`g-${i}`, 'of which genre is [E]', film, tailsOf('genre', film)),
    ]),
  ...['ann', 'bob', 'cy'].map((person, i) =>
    sample(
      `p-${i}`,
      'which genres have the films that [E] made',
      person,
      headsOf('directed', person).flatMap((film) => tailsOf('genre', film)),
    ),
  ),
];

/** For readers that learn their words, and for UniKGQA, which reads hashed texts. @param more of the `reader` section */
export function tinyFacts(kind: 'nsm' | 'uni-kgqa' | 'kv-mem', more: object = {}): ReaderFacts {
  const unused = () => {
    throw new Error('nothing is encoded or walked');
  };
  return {
    graph: tinyFilms,
    settings: readerSettings.parse({
      kind,
      words: 'trained',
      wordDim: 8,
      width: 6,
      entities: { most: 13, dim: 12 },
      fit: { dropout: 0, learningRate: 0.02, maxGradNorm: 5 },
      ...more,
    }),
    ...{ horizon: 2, maxTokens: 64, seed: 3, folder: '' },
    frontiers: { root: unused } as unknown as ReaderFacts['frontiers'],
    encoder:
      kind === 'uni-kgqa' ? hashedEncoder(16) : ({ dim: 0, encode: unused } as unknown as ReaderFacts['encoder']),
  };
}
