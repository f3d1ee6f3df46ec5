/** LLM-ARK's bugs where a network knows edges by their place alone, by their ids in the catalogue. */
import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { createWalkerHead } from '../../agents/dialogue-walker/heads/registry.js';
import { noTables } from '../../agents/dialogue-walker/vectors.js';
import { actionLogProbs } from '../../trainers/actor.js';
import { walkerActor } from '../../agents/dialogue-walker/policy.js';
import { openExecutor } from '../../src/nn/open-executor.js';
import { numActions } from '../../envs/dialogue-walk/rules.js';
import { reachableStates, tinySettings, toyFeaturizer, randomize } from '../fixtures/toy-walker.js';
import { often } from '../fixtures/long-tests.js';
import { longestList } from '../fixtures/toy-policy.js';
import { graphOf, sampleOf } from '../fixtures/toy-walks.js';

const triples = fc
  .record({ entities: fc.integer({ min: 1, max: 40 }), relations: fc.integer({ min: 1, max: 6 }) })
  .chain(({ entities, relations }) =>
    fc.array(fc.tuple(fc.nat(entities - 1), fc.nat(relations - 1), fc.nat(entities - 1)), {
      minLength: 1,
      maxLength: 60,
    }),
  );

test('B-ARK-3: an index without an edge has no probability, for any logit and size of the graph', async () => {
  const { executor } = await openExecutor('simd');
  await fc.assert(
    fc.asyncProperty(triples, fc.boolean(), fc.nat(9), async (drawn, equalAtStep1, spare) => {
      const graph = graphOf(
        'random',
        drawn.map(([h, r, t]) => [`e${h}`, `r${r}`, `e${t}`]),
      );
      const rules = { horizon: 2, equalAtStep1 };
      const samples = graph.entityNames.map((name) => sampleOf(graph, name, 'a message', name, [[name, 'r0', name]]));
      const featurizer = await toyFeaturizer({ graph, samples }, { rules, edgeFeatures: false });
      const { contextDim, numScalars } = featurizer;
      const { numEntities, numRelations } = graph;
      const maxActions = longestList(graph) + spare;
      const head = createWalkerHead(
        executor,
        tinySettings({ head: 'pa-mlp', pathAware: false, placeVectors: false }),
        {
          ...{ contextDim, numScalars, numEdgeFeatures: 0, horizon: 2, numEntities, numRelations, numWords: 0 },
          ...{ rows: graph, maxActions, tables: noTables },
        },
        1,
      );
      await randomize(head.parameters, 2);
      const requests = reachableStates({ graph, samples: samples.slice(0, 8) }, rules);
      const before = await actionLogProbs(walkerActor({ head, featurizer }), requests);
      for (const [s, { state }] of requests.entries()) {
        const own = before.logProbs.subarray(before.offsets[s], before.offsets[s + 1]);
        expect(own).toHaveLength(numActions(graph, state, rules));
        expect(own.reduce((sum, logProb) => sum + Math.exp(logProb), 0)).toBeCloseTo(1, 5);
      }
      // Places that a state has no action in are made the likeliest of all: its probabilities stay.
      const weights = await head.parameters.export();
      const { shape, data } = weights['pa.slots']!;
      for (const [s, request] of requests.entries()) {
        const { state } = request;
        const legal = new Set(Array.from({ length: graph.degree(state.current) }, (_, i) => i + 1));
        if (state.hop > 0 || equalAtStep1) legal.add(0);
        const huge = data.map((value, i) => (legal.has(i % maxActions) ? value : 1000 * value));
        head.parameters.import({ ...weights, 'pa.slots': { shape, data: huge } });
        head.weightsChanged();
        for (const forRanking of [false, true]) {
          const { logProbs } = await actionLogProbs(walkerActor({ head, featurizer }, forRanking), [request]);
          const own = before.logProbs.subarray(before.offsets[s], before.offsets[s + 1]);
          logProbs.forEach((value, i) => expect(value).toBeCloseTo(own[i]!, 4));
        }
      }
      head.dispose();
    }),
    { numRuns: often(5, 20) },
  );
});
