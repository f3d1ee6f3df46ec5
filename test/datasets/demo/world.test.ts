import { describe, expect, test } from '@jest/globals';
import { demoSettings } from '../../../datasets/demo/schema.js';
import { demoFacts, demoWorld } from '../../../datasets/demo/world.js';

const settings = demoSettings.parse({});
const world = demoWorld(settings);
const { graph } = world;

describe('the default world', () => {
  test('has about the size that is asked for', () => {
    expect(Math.abs(graph.numEntities - 3000)).toBeLessThan(100);
    expect(Math.abs(graph.numEdges - 20_000)).toBeLessThan(600);
    expect(graph.numRelations).toBe(40);
  });
});

test('another seed gives another world', () => {
  const other = demoWorld({ ...settings, seed: 2 });
  const known = new Set(graph.entityNames);
  const shared = other.graph.entityNames.filter((name) => known.has(name) && !/^\d+$|^[a-z]/.test(name));
  expect(shared.length).toBeLessThan(100);
});

test.each([
  [200, 1400],
  [3000, 60_000],
  [20_000, 130_000],
])('%d entities and %d triples are met within a few in a hundred', (entities, triples) => {
  let facts = 0;
  for (const { head, tail } of demoFacts({ seed: 4, entities, triples })) facts += Number(head !== tail);
  expect(Math.abs(2 * facts - triples) / triples).toBeLessThan(0.1);
});
