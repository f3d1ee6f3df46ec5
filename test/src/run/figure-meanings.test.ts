import { expect, test } from '@jest/globals';
import { meaningOf } from '../../../src/run/figure-meanings.js';
import { dialogueFigures } from '../../../tasks/dialogues/score.js';
import { linkFigures } from '../../../tasks/links/score.js';

test.each([
  ['path@1', 'the first that'],
  ['path@25, %', 'among the first 25'],
  ['path@1 against PPO (best)', 'the first that'],
  ['Hits@10', 'among the first 10'],
  ['PPO: path@5 on valid, %', 'among the first 5'],
  ['path@1, % · n = 500 (simulated, oracle:0)', 'the first that'],
  ['sum mrr on valid', '1 / rank'],
  ['95\u00a0% interval', 'bootstrap'],
])('%s has a sentence by key and title, with unit, comparison, phase and samples', (name, said) => {
  expect(meaningOf(name)).toContain(said);
});

test('other words have none', () => {
  for (const name of ['agent', 'training', 'against path@1', 'n', 'PPO: entropy', ''])
    expect(meaningOf(name)).toBeUndefined();
});

test('every main figure of dialogues and links has one, by key as by title', () => {
  const main = [...dialogueFigures([1, 5, 25]), ...linkFigures(3)].filter(({ place }) => place === 'main');
  expect(main.flatMap(({ key, title }) => [key, title]).filter((name) => !meaningOf(name))).toEqual([]);
});
