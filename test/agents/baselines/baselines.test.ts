import { describe, expect, test } from '@jest/globals';
import { dialogueAgents, type DialogueAgentResources } from '../../../agents/dialogue-agents.js';
import type { EmbeddingTable } from '../../../src/embedding/transe.js';
import { hashedEncoder } from '../../../src/encoder/hashed-encoder.js';
import { namedWalk, readPath, sampleOf, world } from './toy-world.js';

const train = [
  sampleOf('a', namedWalk('Heat', 'starred', 'Pacino')),
  sampleOf('b', namedWalk('Heat', 'starred', 'Pacino')),
  sampleOf('c', namedWalk('Ali', 'directed_by', 'Mann')),
  sampleOf('d', namedWalk('Mann', '~directed_by', 'Ali', 'starred', 'Smith')),
  sampleOf('e', namedWalk('Heat', 'starred', 'Unknown')),
];

/** Vectors: Mann is close to Heat, everything else far. */
function table(): EmbeddingTable {
  const at = Float32Array.from(world.entityNames, (name) => (name === 'Heat' ? 0 : name === 'Mann' ? 1 : 9));
  const [numEntities, numRelations] = [world.numEntities, world.numRelations];
  return {
    model: 'transe',
    norm: 1,
    dim: 1,
    numEntities,
    numRelations,
    entities: at,
    relations: new Float32Array(numRelations),
  };
}

const resources: DialogueAgentResources = {
  graph: world,
  train,
  ranking: { beamWidth: 100 },
  embedding: async () => table(),
  encoder: async () => hashedEncoder(256),
  textLimits: { lastMessageTokens: 96, nameTokens: 32 },
  taskClients: () => Promise.reject(new Error('no language model here')),
};
const ask = async (name: string, task = sampleOf('q', namedWalk('Heat', 'genre', 'Drama')).task, change = {}) => {
  const agent = await dialogueAgents.create(name, { ...resources, ...change });
  return (await agent.answer([task]))[0]!;
};

/** Prompted agents are tested separately. */
const baselines = dialogueAgents.names().filter((name) => !name.startsWith('ark-'));

describe.each(baselines)('%s', (name) => {
  test('ranks every walk of one and two hops once, best first, as a distribution', async () => {
    const { paths, confidence } = await ask(name);
    // Heat has 4 edges; its tails have 2 (Mann), 1 (Pacino), 1 (De Niro) and 2 (Drama).
    expect(paths).toHaveLength(4 + 6);
    expect(new Set(paths.map(({ path }) => readPath(path))).size).toBe(10);
    paths.forEach(({ logProb }, i) => i && expect(logProb).toBeLessThanOrEqual(paths[i - 1]!.logProb + 1e-6));
    const total = paths.reduce((sum, { logProb }) => sum + Math.exp(logProb), 0);
    expect(total).toBeLessThan(1 + 1e-5);
    if (!['frequency', 'popularity'].includes(name)) expect(total).toBeCloseTo(1, 5);
    expect(confidence).toBeGreaterThan(0);
    expect(confidence).toBeLessThanOrEqual(1);
  });

  test('answers a start without edges, or unknown, with nothing', async () => {
    const lonely = sampleOf('q', [[world.entityId('Lonely'), 0, 0]]).task;
    for (const task of [lonely, { ...lonely, start: -1 }]) {
      expect(await ask(name, task)).toMatchObject({ paths: [], answers: [], confidence: 0 });
    }
  });

  test('gives the same answer again', async () => {
    expect((await ask(name)).paths).toEqual((await ask(name)).paths);
  });
});

describe('what each baseline prefers', () => {
  const best = async (name: string, change = {}) => readPath((await ask(name, undefined, change)).paths[0]!.path);

  test('random gives each edge and each stop its share', async () => {
    const { paths } = await ask('random');
    const share = (walk: string) => Math.exp(paths.find(({ path }) => readPath(path) === walk)!.logProb);
    expect(share('directed_by Mann')).toBeCloseTo((1 / 4) * (1 / 3), 6);
    expect(share('starred Pacino')).toBeCloseTo((1 / 4) * (1 / 2), 6);
    expect(share('genre Drama, ~genre Ali')).toBeCloseTo((1 / 4) * (1 / 3), 6);
  });

  test('stop-prior stops as often as train does, smoothed by one', async () => {
    // Of four golds in the graph three have one hop.
    const { paths } = await ask('stop-prior');
    const oneHop = paths
      .filter(({ path }) => path.length === 1)
      .reduce((sum, { logProb }) => sum + Math.exp(logProb), 0);
    expect(oneHop).toBeCloseTo((3 + 1) / (4 + 2), 6);
  });

  test('frequency shares a relation’s count among its tails', async () => {
    // starred: 2 of 4, over two tails; directed_by: 1 of 4, one tail. Both beat sequences that are not in train.
    const { paths } = await ask('frequency');
    const top = paths.slice(0, 3).map(({ path }) => readPath(path));
    expect(new Set(top)).toEqual(new Set(['starred Pacino', 'starred De Niro', 'directed_by Mann']));
    expect(paths[0]!.logProb).toBeCloseTo(Math.log(1 / 4), 1);
  });

  test('popularity prefers the tails that train chose, and says that it counts entities', async () => {
    // Pacino weighs 1 + 2, De Niro 1: 2/4 · 3/4.
    const { paths } = await ask('popularity');
    expect(readPath(paths[0]!.path)).toBe('starred Pacino');
    expect(paths[0]!.logProb).toBeCloseTo(Math.log(3 / 8), 1);
    expect((await dialogueAgents.create('popularity', resources)).note).toBe('uses entity counts');
  });

  test('memory repeats what train did from this start, and knows nothing of other starts', async () => {
    const { paths } = await ask('memory');
    expect(readPath(paths[0]!.path)).toBe('starred Pacino');
    expect(paths[0]!.logProb).toBeCloseTo(Math.log((2 + 1 / 8) / 3), 6);
    const pacino = sampleOf('q', namedWalk('Pacino', '~starred', 'Heat')).task;
    expect((await ask('memory', pacino)).paths).toEqual((await ask('random', pacino)).paths);
  });

  test('transe takes the edge to the nearest entity, as sharply as train agrees', async () => {
    const favouring = [sampleOf('x', namedWalk('Heat', 'directed_by', 'Mann'))];
    expect(await best('transe', { train: favouring })).toBe('directed_by Mann');
    const { paths } = await ask('transe', undefined, { train: [] });
    expect(paths[0]!.logProb).toBeCloseTo(Math.log((1 / 4) * (1 / 2)), 6); // nothing fitted: uniform
  });

  test('text-similarity takes the edge that the last message names, and books its encodes', async () => {
    const messages = [{ sender: 'user' as const, text: 'Was Pacino starred in it?' }];
    const { task } = sampleOf('q', namedWalk('Heat', 'genre', 'Drama'), { messages });
    const answer = await ask('text-similarity', task);
    expect(readPath(answer.paths[0]!.path)).toBe('starred Pacino');
    expect(answer.cost.encodes).toBe(1);
  });
});
