/** LLM-ARK's bugs in data, prompts, settings and checkpoints, by their ids in the catalogue: what each would break here. */
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { arkAgent } from '../../agents/prompted/ark/ark-agent.js';
import { NameIndex } from '../../agents/dialogue-walker/features/dialogue-scratch.js';
import { checkFits, type CheckpointHeader } from '../../checkpoints/checkpoint.js';
import { resolveCheckpoint } from '../../checkpoints/store.js';
import { importOpenDialKg } from '../../datasets/opendialkg/import.js';
import { emptyCounts, parseMessages } from '../../datasets/opendialkg/read-dialogues.js';
import { locatedTopic } from '../../datasets/questions/stored-question.js';
import { loadDialogueDataset } from '../../datasets/dialogues/dialogue-dataset.js';
import { walkSamples, type WalkTask } from '../../datasets/walk-sample.js';
import { runSettings } from '../../presets/index.js';
import { GraphBuilder } from '../../src/kg/build-graph.js';
import { createClients } from '../../src/llm/client/create-clients.js';
import { openCompletionStore } from '../../src/llm/client/completion-store.js';
import { loadConfig } from '../../src/run/config.js';
import { learningRateAt } from '../../trainers/ppo.js';
import { ppoSettings } from '../../trainers/ppo-settings.js';
import { readTable, writeTable } from '../../agents/embeddings/transe/pretrain.js';
import { graphFacts } from '../../agents/embeddings/transe/triples.js';
import { transeSettings } from '../../agents/embeddings/transe/settings.js';
import { scriptedModel } from '../fixtures/scripted-model.js';
import { choose, csvOf, folderWith, releaseFiles, say, tripleLines } from '../fixtures/tiny-release.js';
import { graphOf } from '../fixtures/toy-walks.js';

const settingsWith = (...overrides: string[]) => loadConfig(runSettings, { overrides });

describe('a release', () => {
  /** The release, with another test dialogue. */
  const imported = async (...path: (readonly string[])[]) => {
    const home = folderWith({});
    const test = csvOf([[say('user', 'hi'), choose('user', ...path), say('user', 'well')]]);
    await importOpenDialKg({ from: folderWith({ ...releaseFiles, 'test.csv': test }), home });
    return loadDialogueDataset('opendialkg', { home });
  };

  test('B-ARK-6, B-CRUSE-1: has the graph of its triples: no dialogue adds, doubles or reorders an edge', async () => {
    const known = await imported(['Ada Quill', 'born_in', 'Lund'], ['Lund', '~born_in', 'Ada Quill']);
    const unknown = await imported(['Ada Quill', 'lives_in', 'Malmo'], ['Malmo', '~lives_in', 'Ada Quill']);
    for (const name of ['dialogue', 'wide']) {
      const [one, other] = [await known.loadGraph(name), await unknown.loadGraph(name)];
      expect(one.hash).toBe(other.hash);
    }
    const graph = await unknown.loadGraph('dialogue');
    const edges = graph.entityNames.flatMap((head, entity) =>
      Array.from({ length: graph.degree(entity) }, (_, i) => {
        const edge = graph.offsets[entity]! + i;
        return [head, graph.relationNames[graph.relations[edge]!], graph.entityNames[graph.tails[edge]!]].join('\t');
      }),
    );
    expect(edges.sort()).toEqual([...tripleLines].sort());
    const [sample] = walkSamples(unknown.loadDialogues('test'), graph);
    expect(sample!.gold).toMatchObject({ inGraph: false });
  });

  test('B-ARK-5: has the same samples in the same splits for any graph and settings', async () => {
    // Scania is in the wide graph alone.
    const dataset = await imported(['Scania', '~lies_in', 'Lund']);
    const graphs = [await dataset.loadGraph('dialogue'), await dataset.loadGraph('wide')];
    for (const split of ['train', 'valid', 'test'] as const) {
      const [narrow, wide] = graphs.map((graph) =>
        walkSamples(dataset.loadDialogues(split), graph).map(({ task }) => [task.id, task.startName]),
      );
      expect(wide).toEqual(narrow);
    }
  });
});

describe('names with the letters of patterns', () => {
  const odd = ['What? (a film)', '[REC]+', 'S.W.A.T.', 'C++ | C*', 'M*A*S*H', '(500) Days ^ $', 'a\\d'];

  test.each(odd)('B-ARK-16: %j is found as it is, and its path is kept', (name) => {
    const graph = graphOf('odd', [
      [name, 'made_by', 'Ada'],
      ['Ada', '~made_by', name],
    ]);
    const counts = emptyCounts();
    const path = [
      [name, 'made_by', 'Ada'],
      ['Ada', '~made_by', name],
    ];
    const parsed = parseMessages([say('user', `I saw ${name} once.`), choose('assistant', ...path)], 'here', counts);
    expect(counts).toEqual(emptyCounts());
    const [sample] = walkSamples([{ id: 'd', ...parsed }], graph);
    expect(sample!.gold).toMatchObject({ inGraph: true, target: graph.entityId(name) });
    expect([...new NameIndex(graph).read(parsed.messages[0]!.text).mentions]).toEqual([graph.entityId(name)]);
    expect(locatedTopic(`who made ${name} then`, name)).toEqual({ name, span: [9, 9 + name.length] });
  });
});

test('B-ARK-8: a prompt that does not fit loses what was said long ago, never the entity or what was said last', async () => {
  const graph = graphOf('pier', [['Pier', 'written_by', 'Oda']]);
  const entity = graph.entityId('Pier');
  const task: WalkTask = {
    id: 'd#1',
    dialogueId: 'd',
    messages: [
      ...Array.from({ length: 40 }, (_, i) => ({ sender: 'user' as const, text: `${'word '.repeat(30)}number ${i}` })),
      { sender: 'user', text: 'who wrote the book of the harbour' },
    ],
    sender: 'assistant',
    start: entity,
    startName: 'Pier',
    earlierPaths: Array.from({ length: 12 }, () => [[entity, 0, graph.entityId('Oda')] as const]),
  };
  for (const prompt of ['ark-normal', 'ark-opa'] as const) {
    const shown: boolean[] = [];
    for (let contextLength = 120; contextLength <= 1200; contextLength += 40) {
      const reply = { answers: ['Pier | written_by | Oda'], choices: [0] };
      const model = scriptedModel(() => reply, { contextLength });
      const store = openCompletionStore(join(folderWith({}), 'completions.jsonl'));
      const { clientFor } = createClients({ model, store, budget: 2, budgetMode: 'strict', seed: 0 });
      const open = (id: string) => ({ client: clientFor(id).client, cost: () => ({}) });
      const answer = arkAgent(prompt, { graph, clientFor: open, beamWidth: 5 }).answer([task]);
      // Too short for what must stay: refused, not cut.
      await answer.catch((error: unknown) => expect(error).toMatchObject({ code: 'data' }));
      store.close();
      if (model.asked.length === 0) continue;
      const { body } = model.asked[0]!;
      expect(body).toContain('who wrote the book of the harbour');
      expect(body).toContain('Entity:\nPier\n');
      expect(body).not.toContain('number 0\n');
      shown.push(body.includes('number 39'));
    }
    // From nothing of the past to what was said just before.
    expect([shown[0], shown.at(-1)]).toEqual([false, true]);
  }
});

describe('B-ARK-12: a setting', () => {
  test.each(['False', 'false', 'FALSE'])('that is switched off by %s is off', (off) => {
    expect(settingsWith(`ppo.enabled=${off}`, `transe.bernoulli=${off}`)).toMatchObject({
      ppo: { enabled: false },
      transe: { bernoulli: false },
    });
  });

  test.each(['no', '0', '"false"', 'off'])('takes no %s for a switch', (word) => {
    expect(() => settingsWith(`ppo.enabled=${word}`)).toThrow(/ppo\.enabled: expected/);
  });

  test('of the decay of the learning rate has its effect', () => {
    const rates = (lrDecay: 'linear' | 'none') => {
      const settings = ppoSettings.parse({ lrDecay, warmupUpdates: 0, updates: 4, finalLrShare: 0, learningRate: 1 });
      return [0, 1, 2, 3].map((update) => learningRateAt(update, settings));
    };
    expect(rates('none')).toEqual([1, 1, 1, 1]);
    expect(rates('linear')).toEqual([1, 0.75, 0.5, 0.25]);
  });
});

describe('B-ARK-14: what was trained', () => {
  test('is never evaluated without its weights', () => {
    expect(() => resolveCheckpoint(folderWith({}), 'best')).toThrow(/got a run that saved none yet/);
  });

  test('is refused on a graph that numbers the same edges in another order', () => {
    const build = (lines: readonly string[]) => {
      const builder = new GraphBuilder();
      for (const line of lines) builder.add(...(line.split('\t') as [string, string, string]));
      return builder.build('dialogue');
    };
    const [trained, reordered] = [build(tripleLines), build([...tripleLines].reverse())];
    expect(reordered.numEdges).toBe(trained.numEdges);
    const header = { hashes: { graph: trained.hash } } as CheckpointHeader;
    expect(() => checkFits(header, { graph: reordered.hash })).toThrow(/expected a checkpoint of graph/);
  });
});

describe('B-ARK-15: TransE', () => {
  const graph = graphOf('small', [
    ['a', 'r', 'b'],
    ['b', '~r', 'a'],
    ['b', 's', 'c'],
    ['c', 'r', 'c'],
  ]);

  test('learns the facts of the graph, no stay and nothing padded', () => {
    const { heads, relations, tails } = graphFacts(graph);
    const facts = Array.from(heads, (head, i) =>
      [graph.entityNames[head], graph.relationNames[relations[i]!], graph.entityNames[tails[i]!]].join(' '),
    );
    expect(facts.sort()).toEqual(['a r b', 'b s c', 'c r c']);
  });

  test('hands on vectors of mean norm 1, or they are refused', () => {
    const file = join(folderWith({}), 'table.safetensors');
    const settings = transeSettings.parse({ dim: 2 });
    const write = (length: number) => {
      const row = (rows: number) => Float32Array.from({ length: rows * 2 }, (_, i) => (i % 2 ? 0 : length));
      const [numEntities, numRelations] = [3, 3];
      const sizes = { numEntities, numRelations, entities: row(3), relations: row(3) };
      const table = { model: 'transe', norm: settings.norm, dim: 2, ...sizes } as const;
      writeTable(file, { graph, settings, seed: 1 }, { table, history: [] });
    };
    write(1);
    expect(readTable(file, graph).table.entities).toHaveLength(6);
    write(3);
    expect(() => readTable(file, graph)).toThrow(/expected entity vectors of mean norm 1, got 3/);
  });
});
