import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { walkSamples } from '../../../datasets/walk-sample.js';
import { checkEnv, makeEnv } from '../../../envs/index.js';
import { initialState, numActions } from '../../../envs/dialogue-walk/rules.js';
import { walkGraph } from '../../../envs/dialogue-walk/walk-graph.js';
import type { Graph } from '../../../src/kg/graph.js';
import { edgesOf, hubDataset, hubGraph } from '../../fixtures/hub-dialogues.js';
import { graphOf } from '../../fixtures/toy-walks.js';
import { checkProperty } from '../../fixtures/property.js';

const policies = ['full', 'topk-degree', 'ark'] as const;
const edges = (graph: Graph) =>
  graph.entityNames.flatMap((head) => edgesOf(graph, head).map((edge) => `${head} ${edge}`));

describe('every policy', () => {
  test.each(policies)(
    '%s: leaves a graph of the same names and ids, in the same order, and lists no longer than asked',
    (edgePolicy) => {
      for (const maxOut of [2, 3, 5, 12, 50]) {
        const { graph } = walkGraph(hubGraph, { edgePolicy, maxOut }, hubDataset);
        expect(graph.entityNames).toEqual(hubGraph.entityNames);
        expect(graph.relationNames).toEqual(hubGraph.relationNames);
        expect(edges(graph)).toEqual(edges(hubGraph).filter((edge) => edges(graph).includes(edge)));
        if (edgePolicy === 'full') continue;
        const rules = { horizon: 2, equalAtStep1: true };
        for (const [entity] of graph.entityNames.entries()) {
          const expected = Math.min(maxOut - 1, hubGraph.degree(entity));
          expect(numActions(graph, initialState(graph, entity, rules), rules)).toBe(expected + 1);
        }
      }
    },
  );

  test.each(policies)('%s: makes the same lists again', (edgePolicy) => {
    const made = () => walkGraph(hubGraph, { edgePolicy, maxOut: 4 }, hubDataset);
    expect(made().graph.hash).toBe(made().graph.hash);
    expect(made().selection).toEqual(made().selection);
  });

  test.each(policies)('%s: makes an environment that keeps its promises', (edgePolicy) => {
    const { graph } = walkGraph(hubGraph, { edgePolicy, maxOut: 4 }, hubDataset);
    const samples = walkSamples(hubDataset.loadDialogues('train'), hubGraph);
    for (const equalAtStep1 of [true, false]) {
      checkEnv(makeEnv('kgwalk/OpenDialKG-v1', { graph, samples, rules: { horizon: 3, equalAtStep1 } }));
    }
  });

  test('nothing is copied where nothing is cut', () => {
    expect(walkGraph(hubGraph, { edgePolicy: 'full', maxOut: 2 })).toEqual({ graph: hubGraph });
    const { graph, selection } = walkGraph(hubGraph, { edgePolicy: 'topk-degree', maxOut: 13 });
    expect(graph).toBe(hubGraph);
    expect(selection).toMatchObject({ entitiesCut: 0, kept: hubGraph.numEdges });
  });
});

describe('topk-degree', () => {
  test('gives every relation its turn, the tails with the most edges first', () => {
    const kept = (maxOut: number) => edgesOf(walkGraph(hubGraph, { edgePolicy: 'topk-degree', maxOut }).graph, 'hub');
    // Arms 3, 7 and 11 have four edges, arm 10 three.
    expect(kept(3)).toEqual(['big arm 03', 'one arm 11']);
    expect(kept(4)).toEqual(['big arm 03', 'small arm 10', 'one arm 11']);
    expect(kept(5)).toEqual(['big arm 03', 'big arm 07', 'small arm 10', 'one arm 11']);
  });

  test('reads no dialogue', () => {
    const closed = {
      loadDialogues: () => {
        throw new Error('read');
      },
    };
    expect(() => walkGraph(hubGraph, { edgePolicy: 'topk-degree', maxOut: 3 }, closed)).not.toThrow();
  });

  test('is what its definition says, on any graph', () => {
    const name = fc.nat(14).map((i) => `e${i}`);
    const triple = fc.tuple(
      name,
      fc.nat(3).map((i) => `r${i}`),
      name,
    );
    checkProperty(
      fc.property(
        fc.array(triple, { minLength: 1, maxLength: 120 }),
        fc.integer({ min: 2, max: 8 }),
        (triples, maxOut) => {
          const whole = graphOf('random', triples);
          const { graph } = walkGraph(whole, { edgePolicy: 'topk-degree', maxOut });
          for (const [entity, head] of whole.entityNames.entries()) {
            // Round after round, the best edge left of each relation; the round that does not fit loses its poorest.
            const left = Array.from({ length: whole.degree(entity) }, (_, i) => whole.offsets[entity]! + i);
            const degree = (edge: number) => whole.degree(whole.tails[edge]!);
            const kept: number[] = [];
            while (kept.length < maxOut - 1 && left.length > 0) {
              const round = [...new Set(left.map((edge) => whole.relations[edge]!))].map((relation) =>
                left
                  .filter((edge) => whole.relations[edge] === relation)
                  .reduce((a, b) => (degree(b) > degree(a) ? b : a)),
              );
              round.sort((a, b) => degree(b) - degree(a) || a - b);
              for (const edge of round.slice(0, maxOut - 1 - kept.length))
                kept.push(...left.splice(left.indexOf(edge), 1));
            }
            const named = kept.sort((a, b) => a - b).map((edge) => edgesOf(whole, head)[edge - whole.offsets[entity]!]);
            expect(edgesOf(graph, head)).toEqual(named);
          }
        },
      ),
      { numRuns: 60 },
    );
  });
});

describe('ark', () => {
  const at = (maxOut: number) => walkGraph(hubGraph, { edgePolicy: 'ark', maxOut }, hubDataset);

  test('takes what dialogues walk before the order of the graph, and loses one of the first maxOut', () => {
    const front = ['small arm 10', 'one arm 11', 'small arm 09'];
    const rest = edgesOf(hubGraph, 'hub').filter((edge) => !front.includes(edge));
    const lost = new Set<number>();
    for (const maxOut of [4, 5, 6, 7, 8, 9]) {
      const first = [...front, ...rest].slice(0, maxOut);
      const kept = edgesOf(at(maxOut).graph, 'hub');
      expect(kept).toHaveLength(maxOut - 1);
      expect(first).toEqual(expect.arrayContaining(kept));
      lost.add(first.findIndex((edge) => !kept.includes(edge)) / (maxOut - 1));
    }
    // Not always the last one.
    expect(Math.min(...lost)).toBeLessThan(1);
  });

  test('asks for the dialogues', () => {
    expect(() => walkGraph(hubGraph, { edgePolicy: 'ark', maxOut: 5 })).toThrow(
      /expected a data set with edgePolicy ark/,
    );
  });
});
