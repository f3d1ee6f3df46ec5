import { expect, test } from '@jest/globals';
import { join } from 'node:path';
import { withoutVocabulary } from '../../../datasets/generated/vocabulary.js';
import { addWordings } from '../../../datasets/generated/wordings.js';
import { relationWordsOf } from '../../../datasets/generated/relation-words.js';
import { hashedEncoder } from '../../../src/encoder/hashed-encoder.js';
import { GraphBuilder } from '../../../src/kg/build-graph.js';
import { createClients } from '../../../src/llm/client/create-clients.js';
import { openCompletionStore } from '../../../src/llm/client/completion-store.js';
import type { Decision } from '../../../src/llm/decision.js';
import { checkExamples } from '../../fixtures/check-examples.js';
import { scriptedModel } from '../../fixtures/scripted-model.js';
import { folderWith } from '../../fixtures/tiny-release.js';

const builder = new GraphBuilder();
builder.add('Heat', 'film_director', 'Mann');
builder.add('Heat', 'release_year', '1995');
const graph = builder.build('films', { addInverses: true });

const vocabulary = { ...withoutVocabulary, isVerb: (word: string) => word === 'direct' };

/** Words with what a model that says these of every word adds to them; similar are texts that share words. */
async function worded(...items: string[]) {
  const asked: Decision[] = [];
  const model = scriptedModel((decision) => (asked.push(decision), { items }));
  const store = openCompletionStore(join(folderWith({}), 'kept.jsonl'));
  const encoder = hashedEncoder(256, true);
  const words = await relationWordsOf(graph, { vocabulary });
  const clients = createClients({ model, store, budget: null, budgetMode: 'strict', seed: 0 });
  const counts = await addWordings(graph, words, { vocabulary, clients, concurrency: 1, encoder, seed: 0 });
  store.close();
  const added = [...words].map(([relation, lists]) => [
    relation,
    Object.keys(lists.tailIs).filter((word) => lists.tailIs[word] === 'paraphrase'),
  ]);
  return { counts, added: Object.fromEntries(added) as Record<string, string[]>, asked };
}

test('a wording is kept for the relation that it is nearest to, and for no other', async () => {
  const { counts, added } = await worded('the film maker', 'Release date', 'song');
  expect(added).toEqual({ film_director: ['film maker'], release_year: ['release date'] });
  expect(counts).toMatchObject({ kept: 2 });
  expect(counts.refused).toBe(3 * counts.asked - 2);
});

test('names, sentences and words of the examples are refused, what was known before is not counted', async () => {
  const { counts, added } = await worded('film: Heat', 'film director of many good things', 'owner', 'film director');
  expect(added).toEqual({ film_director: [], release_year: [] });
  expect(counts.kept).toBe(0);
});

test('each list of words is asked for once, with a fact of the graph, by examples that parse', async () => {
  const { asked, counts } = await worded('film maker');
  expect(asked).toHaveLength(counts.asked);
  expect(asked.map(({ question }) => question)).toContain('film director: Mann is the film director of Heat');
  expect(checkExamples(asked[0]!)).toEqual([]);
});
