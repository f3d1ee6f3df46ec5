/** Walks made of turns without annotation: from train alone, and never seen by their dialogue. */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { env } from 'node:process';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { WalkCounts } from '../../agents/dialogue-walker/features/edge-features.js';
import { linkedTurns, linkedTurnsOf } from '../../agents/dialogue-walker/linked-turns.js';
import type { Dialogue } from '../../datasets/dialogue.js';
import { importOpenDialKg } from '../../datasets/opendialkg/import.js';
import { type SplitName, type WalkSample, walkSamples } from '../../datasets/walk-sample.js';
import type { LeakReport } from '../../evaluation/leaks/leak-report.js';
import { train } from '../../tasks/train.js';
import { kgwalkJson } from '../fixtures/command-line.js';
import { often } from '../fixtures/long-tests.js';
import { choose, csvOf, folderWith, longDialogue, releaseFiles, say, shortDialogue } from '../fixtures/tiny-release.js';
import { tinySettings } from '../fixtures/tiny-training.js';
import { reachableStates, toyFeaturizer } from '../fixtures/toy-walker.js';
import { graphOf } from '../fixtures/toy-walks.js';

const graph = graphOf('films', [
  ['Deep Water', 'directed_by', 'Ada Quill'],
  ['Ada Quill', '~directed_by', 'Deep Water'],
  ['Paper Moons', 'directed_by', 'Ada Quill'],
  ['Ada Quill', '~directed_by', 'Paper Moons'],
  ['Paper Moons', 'starring', 'Bo Ek'],
  ['Bo Ek', '~starring', 'Paper Moons'],
  ['Bo Ek', 'knows', 'Ada Quill'],
]);

/** Dialogues of a few messages that name what the graph holds, some of them with a path. */
const dialogues = fc
  .array(
    fc.array(
      fc.record({
        named: fc.array(fc.constantFrom(...graph.entityNames), { maxLength: 2 }),
        edge: fc.option(fc.nat(graph.numEdges - 1), { freq: 2 }),
      }),
      { minLength: 2, maxLength: 5 },
    ),
    { minLength: 2, maxLength: 6 },
  )
  .map((all) =>
    all.map((turns, d): Dialogue => {
      const sender = (i: number) => (i % 2 === 0 ? 'user' : 'assistant');
      return {
        id: `d${d}`,
        messages: turns.map(({ named }, i) => ({ sender: sender(i), text: `so ${named.join(' and ')}` })),
        paths: turns.flatMap(({ edge }, i) => {
          if (edge === null || i === 0) return [];
          const head = graph.entityNames.findIndex((_, entity) => graph.offsets[entity + 1]! > edge);
          const [relation, tail] = [graph.relationNames[graph.relations[edge]!]!, graph.tails[edge]!];
          const triples: Dialogue['paths'][number]['triples'] = [
            [graph.entityNames[head]!, relation, graph.entityNames[tail]!],
          ];
          return [{ sender: sender(i), position: i, triples }];
        }),
      };
    }),
  );

const samplesOf = (all: readonly Dialogue[]) => {
  const golds = walkSamples(all, graph);
  return { golds, linked: linkedTurns(all, golds, graph) };
};

describe('over random dialogues', () => {
  test('a linked turn says nothing that came later, and is of a turn without a path', () => {
    let count = 0;
    fc.assert(
      fc.property(dialogues, (all) => {
        for (const { task } of samplesOf(all).linked) {
          const { messages, paths } = all.find(({ id }) => id === task.dialogueId)!;
          const index = Number(task.id.split('~')[1]);
          expect(task.messages).toEqual(messages.slice(0, index));
          expect(paths.map(({ position }) => position)).not.toContain(index);
          expect(task.earlierPaths).toHaveLength(paths.filter(({ position }) => position < index).length);
          count++;
        }
      }),
      { numRuns: 100, seed: 1 },
    );
    expect(count).toBeGreaterThan(50);
  });

  test.each(['none', 'graph'] as const)(
    'features of a dialogue’s states are those of counts that never had its golds or its linked turns, pair features %s',
    async (pairFeatures) => {
      let own = 0;
      await fc.assert(
        fc.asyncProperty(dialogues, async (all) => {
          const { golds, linked } = samplesOf(all);
          const counted = [...golds, ...linked];
          if (counted.length === 0) return;
          const world = { graph, samples: counted };
          const featurizer = await toyFeaturizer(world, { pairFeatures });
          for (const { id } of all) {
            const isOwn = ({ task }: WalkSample) => task.dialogueId === id;
            const ofDialogue = counted.filter(isOwn);
            if (ofDialogue.length === 0) continue;
            own += linked.filter(isOwn).length;
            const states = reachableStates({ graph, samples: ofDialogue });
            const others = await toyFeaturizer(world, {
              pairFeatures,
              train: counted.filter((sample) => !isOwn(sample)),
            });
            expect(featurizer.batch(states).edgeFeatures).toEqual(others.batch(states).edgeFeatures);
          }
        }),
        { numRuns: often(10, 30), seed: 2 },
      );
      expect(own).toBeGreaterThan(5);
    },
  );

  test('their walks are counted for other dialogues', () => {
    const all = ['a', 'b'].map((id): Dialogue => {
      const said = ['I saw Deep Water.', 'It is by Ada Quill.'];
      return { id, messages: said.map((text) => ({ sender: 'user', text })), paths: [] };
    });
    const { linked } = samplesOf(all);
    const counts = new WalkCounts(graph, linked);
    const edge = graph.edgeIndex(0, 0, 1);
    expect([counts.edge[edge], counts.without('a', () => counts.edge[edge])]).toEqual([2, 1]);
  });
});

test('train alone is read', () => {
  const read: SplitName[] = [];
  const dataset = {
    loadDialogues(split: SplitName): Dialogue[] {
      read.push(split);
      return [];
    },
  };
  const data = { turns: 'all', maxDialogues: null, trainSamples: null, validSamples: null } as const;
  linkedTurnsOf(dataset, graph, [], data, { weight: 0.5, inCounts: true });
  expect(read).toEqual(['train']);
});

describe('a run with linked turns', () => {
  let home: string;
  const unannotated = (said: string) => [
    say('user', said),
    say('assistant', 'It is by Ada Quill.'),
    choose('user', ['Ada Quill', 'born_in', 'Lund']),
    say('user', 'Of Lund?'),
  ];

  beforeAll(async () => {
    home = folderWith({});
    env.KGWALK_HOME = home;
    const files = {
      ...releaseFiles,
      'train.csv': csvOf([shortDialogue, longDialogue, unannotated('I saw Glass Harbor again.')]),
      // Turns of which nothing may be made.
      'valid.csv': csvOf([unannotated('I saw Paper Moons again.')]),
      'test.csv': csvOf([unannotated('We both saw Paper Moons.')]),
    };
    await importOpenDialKg({ from: folderWith(files) });
  });

  afterAll(() => rmSync(home, { recursive: true }));

  const trained = async (name: string, ...overrides: string[]) => {
    const run = join(home, name);
    await train({ settings: tinySettings('ppo.enabled=false', 'transe.enabled=false', ...overrides), folder: run });
    const report = await kgwalkJson<LeakReport>('datasets', 'check', 'opendialkg', '--run', run, '--split', 'test');
    return { run, made: new Map(report.artifacts.map((row) => [row.name, row])) };
  };

  test('notes them as samples of train, in all that is made of them', async () => {
    const { run, made } = await trained('linked', 'clone.linkedTurns={}');
    expect(made.get('cloning')!.samples).toEqual({ train: 5 });
    expect(made.get('walk counts')!.samples).toEqual({ train: 5 });
    expect(made.get('relations that link turns')!.samples).toEqual({ train: 4 });
    expect([...made.values()].flatMap(({ samples }) => Object.keys(samples))).not.toContain('test');
    expect([...made.values()].map(({ foreign }) => foreign)).toEqual(Array(made.size).fill(0));
    // What loads the run makes the same counts.
    const { saved } = await kgwalkJson<{ saved: string }>('evaluate', run, '--split', 'test');
    expect(saved).toContain('linked');
  });

  test('keeps them out of its counts on request', async () => {
    const { made } = await trained('apart', 'clone.linkedTurns={inCounts: false}');
    expect([made.get('cloning')!.samples, made.get('walk counts')!.samples]).toEqual([{ train: 5 }, { train: 4 }]);
  });
});
