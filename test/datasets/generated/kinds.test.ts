import { expect, test } from '@jest/globals';
import { addKinds } from '../../../datasets/generated/kinds.js';
import { relationWordsOf } from '../../../datasets/generated/relation-words.js';
import { withoutVocabulary } from '../../../datasets/generated/vocabulary.js';
import { hashedEncoder } from '../../../src/encoder/index.js';
import { GraphBuilder } from '../../../src/kg/build-graph.js';
import type { LanguageModel, ScoreRequest } from '../../../src/llm/language-model.js';

/** Ten films, each with a director and a year; directors were born in towns. */
function world() {
  const builder = new GraphBuilder();
  for (let i = 0; i < 10; i++) {
    builder.add(`Film ${i}`, 'directed_by', `Director ${i % 5}`);
    builder.add(`Film ${i}`, 'released_in', `${1990 + i}`);
    builder.add(`Director ${i % 5}`, 'born_in', `Town ${i % 3}`);
  }
  return builder.build('graph', { addInverses: true });
}

/** A model that calls films works and all else persons, and counts what it is asked. */
function model(asked: string[]) {
  const scoreTexts = (request: ScoreRequest, texts: readonly string[]) => {
    asked.push(request.body);
    const kind = request.body.startsWith('Film') ? ' work' : ' person';
    const logProbs = Float64Array.from(texts, (text) => (text === kind ? 0 : -9));
    const usage = { promptTokens: 0, cachedTokens: 0, completionTokens: 0 };
    return Promise.resolve({ logProbs, tokens: new Int32Array(texts.length).fill(1), usage });
  };
  return { scoreTexts } as unknown as LanguageModel;
}

test('kinds of heads are what the model chooses, asked once for heads in common, and what other relations call them', async () => {
  const graph = world();
  const words = await relationWordsOf(graph, { vocabulary: withoutVocabulary });
  const asked: string[] = [];
  await addKinds(graph, words, { model: model(asked), encoder: hashedEncoder(32), vocabulary: withoutVocabulary });
  expect(words.get('directed_by')!.head).toEqual({ work: 'model' });
  expect(words.get('released_in')!.head).toEqual({ work: 'model' });
  // Directors are tails of `directed_by`.
  expect(words.get('born_in')!.head).toEqual({ directer: 'name', person: 'model' });
  expect(words.get('directed_by')!.tail).toEqual({ person: 'vocabulary' });
  const ofFilms = asked.filter((body) => body.startsWith('Film'));
  expect(ofFilms).toHaveLength(8);
  expect(ofFilms[0]).toMatch(/^Film \d \((directed by|released in): .*\) is a$/);
});

test('without a model there is what relations share', async () => {
  const graph = world();
  const words = await relationWordsOf(graph, { vocabulary: withoutVocabulary });
  await addKinds(graph, words, { vocabulary: withoutVocabulary });
  expect(words.get('released_in')!.head).toEqual({});
  expect(words.get('born_in')!.head).toEqual({ directer: 'name' });
});
