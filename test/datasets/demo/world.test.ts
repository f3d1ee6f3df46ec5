import { describe, expect, test } from '@jest/globals';
import { demoSettings } from '../../../datasets/demo/schema.js';
import { demoFacts, demoWorld } from '../../../datasets/demo/world.js';

const settings = demoSettings.parse({});
const world = demoWorld(settings);
const { graph, types, aliases } = world;
const degrees = graph.entityNames.map((_, entity) => graph.degree(entity)).sort((a, b) => b - a);

describe('the default world', () => {
  test('has about the size that is asked for', () => {
    expect(Math.abs(graph.numEntities - 3000)).toBeLessThan(100);
    expect(Math.abs(graph.numEdges - 20_000)).toBeLessThan(600);
    expect(graph.numRelations).toBe(40);
  });

  test('holds both directions of every fact', () => {
    for (let head = 0; head < graph.numEntities; head++) {
      for (let edge = graph.offsets[head]!; edge < graph.offsets[head + 1]!; edge++) {
        const back = graph.inverseOf[graph.relations[edge]!]!;
        expect(graph.edgeIndex(graph.tails[edge]!, back, head)).not.toBe(-1);
      }
    }
  });

  test('has hubs: a hundredth of the entities has more than a tenth of the edges', () => {
    const hubs = degrees.slice(0, Math.round(degrees.length / 100));
    expect(hubs.reduce((sum, degree) => sum + degree, 0)).toBeGreaterThan(0.1 * graph.numEdges);
    expect(degrees[0]).toBeGreaterThan(50 * degrees[degrees.length >> 1]!);
  });

  test('has people who both directed and wrote one film', () => {
    const [directed, written] = ['directed_by', 'written_by'].map((name) => graph.relationId(name));
    const both = graph.entityNames.filter((_, film) => {
      for (let edge = graph.offsets[film]!; edge < graph.offsets[film + 1]!; edge++) {
        if (graph.relations[edge] === directed && graph.edgeIndex(film, written!, graph.tails[edge]!) >= 0) return true;
      }
      return false;
    });
    expect(both.length).toBeGreaterThan(50);
  });

  test('has films and books of the same title: full names differ by qualifier, short names do not', () => {
    const film = graph.entityNames.findIndex((name) => name.endsWith(' (film)'));
    const title = graph.entityNames[film]!.replace(' (film)', '');
    const book = graph.entityId(`${title} (novel)`);
    expect(book).toBeGreaterThanOrEqual(0);
    expect(aliases[film]).toContain(title);
    expect(aliases[book]).toContain(title);
    expect([types[film], types[book]]).toEqual(['film', 'book']);
  });

  test('calls people by their family name, which relatives share', () => {
    const families = types.flatMap((type, id) => (type === 'actor' ? aliases[id]! : []));
    expect(new Set(families).size).toBeLessThan(families.length);
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
