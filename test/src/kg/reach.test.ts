import { expect, test } from '@jest/globals';
import { GraphBuilder } from '../../../src/kg/build-graph.js';
import { unknownId } from '../../../src/kg/graph.js';
import { countReachable } from '../../../src/kg/frontier.js';

test('counts distinct entities within the hops, the start left out', () => {
  const builder = new GraphBuilder();
  for (const [head, tail] of ['ab', 'ac', 'bc', 'ba', 'cd', 'de']) builder.add(head!, 'r', tail!);
  const graph = builder.build('toy');
  const from = (name: string, hops: number) => countReachable(graph, graph.entityId(name), hops);
  expect([from('a', 0), from('a', 1), from('a', 2), from('a', 3), from('a', 9)]).toEqual([0, 2, 3, 4, 4]);
  expect(from('e', 2)).toBe(0);
  expect(countReachable(graph, unknownId, 2)).toBe(0);
});
