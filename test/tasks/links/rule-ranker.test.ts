import { describe, expect, test } from '@jest/globals';
import { ruleBaseline } from '../../../tasks/links/rules.js';
import { knownAnswers, withInverses } from '../../../src/embedding/known-answers.js';
import { evaluatedLinks } from '../../fixtures/evaluated.js';
import { tinyLinkWorld } from '../../fixtures/tiny-links.js';

const { graph, train, valid, test: asked, known } = tinyLinkWorld();
const plain = graph.numRelations / 2;
const world = {
  ...{ graph, train, valid, labels: graph.entityNames },
  known: withInverses(known, plain),
  trainKnown: withInverses(knownAnswers([train]), plain),
};

describe('the baseline of rules', () => {
  test('answers what follows from a rule, and shows the rule as its chain', async () => {
    const { ranker } = await ruleBaseline(world);
    const { record } = await evaluatedLinks(ranker, world, asked, { directions: ['tail'] });
    expect(record.metrics['hits@1']!.value).toBe(1);
    expect(record.details.chains).toEqual([
      { relation: 'citizen_of', chain: ['born_in', 'lies_in'], uses: 2, right: 2, precision: 1 },
    ]);
    expect(record.examples).toEqual([]);
  });

  test('takes rules together as valid says, or the first way where valid says nothing', async () => {
    const none = { heads: new Int32Array(0), relations: new Int32Array(0), tails: new Int32Array(0) };
    expect((await ruleBaseline({ ...world, valid: none })).ranking).toBe('best');
    const { ranking, rules } = await ruleBaseline(world, { horizon: 2 });
    expect(['best', 'noisy-or']).toContain(ranking);
    expect(Math.max(...rules.flat().map(({ chain }) => chain.length))).toBe(2);
    // Longer walks than rules are followed to are no reason to refuse.
    expect((await ruleBaseline(world, { horizon: 5 })).rules).toEqual((await ruleBaseline(world)).rules);
  });
});
