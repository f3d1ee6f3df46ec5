/** A sample of test in every kind of artifact, by the code that makes it: each is found, and without it none is. */
import { beforeAll, describe, expect, test } from '@jest/globals';
import { templateChains } from '../../agents/baselines/template-lookup.js';
import { hopPredictor } from '../../agents/prompted/hops/hop-predictor.js';
import { trainEntries } from '../../agents/prompted/self-veqa/chain-memory.js';
import { dialogueAgents, type DialogueAgentResources } from '../../agents/dialogue-agents.js';
import { encodeQuestions, scaleOfSamples } from '../../agents/relation-walker/question-vectors.js';
import { WalkCounts } from '../../agents/dialogue-walker/features/edge-features.js';
import { frozenTables } from '../../agents/dialogue-walker/vectors.js';
import { createPolicy } from '../../agents/dialogue-walker/inputs.js';
import type { QuestionSample } from '../../datasets/question.js';
import type { DialogueDataset } from '../../datasets/dialogues/dialogue-dataset.js';
import type { WalkSample } from '../../datasets/walk-sample.js';
import { evaluationSettings } from '../../trainers/run-settings.js';
import { hashedEncoder } from '../../src/encoder/hashed-encoder.js';
import { createClients } from '../../src/llm/client/create-clients.js';
import { openCompletionStore } from '../../src/llm/client/completion-store.js';
import { AdamW } from '../../src/nn/adamw.js';
import type { Executor } from '../../src/nn/executor.js';
import { openExecutor } from '../../src/nn/open-executor.js';
import { cloneSettings } from '../../trainers/clone-settings.js';
import { dialogueTriples } from '../../agents/embeddings/transe/triples.js';
import { pretrainEmbeddings } from '../../agents/embeddings/transe/pretrain.js';
import { transeSettings } from '../../agents/embeddings/transe/settings.js';
import { cloneGolds } from '../fixtures/clone-golds.js';
import { scriptedModel } from '../fixtures/scripted-model.js';
import { folderWith } from '../fixtures/tiny-release.js';
import { tinySettings, toyFeaturizer } from '../fixtures/toy-walker.js';
import { plantedDialogues, plantedQuestions, rowsOf } from './planted-world.js';

let executor: Executor;
beforeAll(async () => {
  ({ executor } = await openExecutor('simd'));
});

const encoder = hashedEncoder(16);
const dialogues = plantedDialogues();
const questions = plantedQuestions();

/** An untrained agent that learns from these samples. */
const agent = (name: string) => (train: readonly WalkSample[]) =>
  dialogueAgents.create(name, {
    graph: dialogues.graph,
    train,
    ranking: evaluationSettings.parse({}),
    encoder: () => Promise.resolve(encoder),
    textLimits: { lastMessageTokens: 8, nameTokens: 8 },
    embedding: () => {
      const { numEntities, numRelations } = dialogues.graph;
      const rows = { entities: new Float32Array(2 * numEntities), relations: new Float32Array(2 * numRelations) };
      return Promise.resolve({ model: 'transe', norm: 1, dim: 2, numEntities, numRelations, ...rows });
    },
  } as Partial<DialogueAgentResources> as DialogueAgentResources);

async function cloneOn(train: readonly WalkSample[], valid = dialogues.train): Promise<void> {
  const { graph } = dialogues;
  const featurizer = await toyFeaturizer({ graph, samples: [...dialogues.train, ...dialogues.test] });
  const walker = tinySettings({ width: 4, embeddingDim: 4, hidden: 4 });
  const tables = await frozenTables(graph, featurizer.parts.vectors, undefined, walker);
  const policy = createPolicy(executor, { settings: walker, graph, walks: { graph }, featurizer, tables }, 1);
  const optimizer = new AdamW(policy.head.parameters, {});
  const settings = cloneSettings.parse({ epochs: 1, batchSize: 2, warmupSteps: 1 });
  await cloneGolds({ policy, optimizer, train, valid, settings, seed: 1 });
  optimizer.dispose();
  policy.head.dispose();
}

const ofDialogues: [kind: string, name: string, make: (samples: readonly WalkSample[]) => unknown][] = [
  ['frequency table', 'walk counts', (samples) => new WalkCounts(dialogues.graph, samples)],
  ['frequency table', 'relation sequences', agent('frequency')],
  ['frequency table', 'tails of walks', agent('popularity')],
  ['frequency table', 'share of one-hop walks', agent('stop-prior')],
  ['frequency table', 'share of one-hop walks', agent('text-similarity')],
  ['training', 'sharpness of edge scores', agent('transe')],
  ['memory', 'walks of a start', agent('memory')],
  ['training', 'cloning', cloneOn],
  ['choice', 'loss after an epoch', (samples) => cloneOn(dialogues.train, samples)],
];

const search = { horizon: 1, screened: 1, widest: 10 };
const ofQuestions: [kind: string, name: string, make: (samples: readonly QuestionSample[]) => unknown][] = [
  ['memory', 'relations of question templates', (samples) => templateChains(questions.graph, samples, search)],
  ['memory', 'Self-VEQA memory', (samples) => trainEntries(samples, 0, 0)],
  ['training', 'hop predictor, with the scale of its vectors', (samples) => hopPredictor(encoder, samples)],
  [
    'normaliser',
    'scale of question vectors',
    async (samples) => {
      const tasks = samples.map(({ task }) => task);
      scaleOfSamples(await encodeQuestions(encoder, tasks, { settings: { keepName: false, maxTokens: 16 } }), samples);
    },
  ],
];

describe.each(ofDialogues)('a dialogue of test in a %s (%s)', (kind, name, make) => {
  test('is found, and without it none is', async () => {
    const { train, test: [leaked], known } = dialogues; // prettier-ignore
    const rowOf = async (samples: readonly WalkSample[]) =>
      (await rowsOf(known, () => make(samples))).find((row) => row.kind === kind && row.name === name);
    expect(await rowOf(train)).toMatchObject({ samples: { train: train.length }, byId: 0, verdict: 'none found' });
    const samples = { train: train.length, test: 1 };
    expect(await rowOf([...train, leaked!])).toMatchObject({ samples, byId: 1, verdict: 'found' });
  });
});

describe.each(ofQuestions)('a question of test in a %s (%s)', (kind, name, make) => {
  test('is found, and without it none is', async () => {
    const { train, test: [leaked], known } = questions; // prettier-ignore
    const rowOf = async (samples: readonly QuestionSample[]) =>
      (await rowsOf(known, () => make(samples))).find((row) => row.kind === kind && row.name === name);
    expect(await rowOf(train)).toMatchObject({ samples: { train: train.length }, byId: 0, verdict: 'none found' });
    const samples = { train: train.length, test: 1 };
    expect(await rowOf([...train, leaked!])).toMatchObject({ samples, byId: 1, verdict: 'found' });
  });
});

describe('a sample of test', () => {
  const { graph, train, test: [leaked], known } = dialogues; // prettier-ignore
  const countsOf = async (...samples: WalkSample[]) => (await rowsOf(known, () => new WalkCounts(graph, samples)))[0];
  const renamed = (id: string, { task, gold }: WalkSample): WalkSample => ({ task: { ...task, id }, gold });

  test('that goes by an id of train is found by what it says', async () => {
    const [first, ...rest] = train;
    const why = 'these ids stand for other samples in the data set';
    expect(await countsOf(renamed(first!.task.id, leaked!), ...rest)).toMatchObject({ byId: 0, verdict: 'found', why });
  });

  test('with another id is found as one that the data set lacks', async () => {
    expect(await countsOf(...train, renamed('new-1', leaked!))).toMatchObject({ foreign: 1, verdict: 'found' });
  });

  test('whose facts are never held out from TransE is found', async () => {
    const dialogue = (id: string, names: [string, string, string][]) => ({
      id,
      messages: [],
      paths: [{ sender: 'user' as const, position: 0, triples: names }],
    });
    const named = ({ gold }: WalkSample) =>
      gold.path.map(([h, r, t]): [string, string, string] => [
        graph.entityNames[h]!,
        graph.relationNames[r]!,
        graph.entityNames[t]!,
      ]);
    const excluding = (samples: readonly WalkSample[]) => () => {
      const dialoguesOf = () => samples.map((sample) => dialogue(sample.task.id.replace(/#.*$/, ''), named(sample)));
      const settings = transeSettings.parse({ dim: 2, epochs: 1, validShare: 0 });
      const exclude = dialogueTriples(
        { loadDialogues: dialoguesOf } as Partial<DialogueDataset> as DialogueDataset,
        graph,
      );
      return pretrainEmbeddings(graph, { settings, seed: 0, exclude, folder: folderWith({}) });
    };
    const rows = await rowsOf(known, excluding([leaked!]));
    expect(rows.find(({ name }) => name === 'facts that TransE never holds out')).toMatchObject({ verdict: 'found' });
    expect(rows.find(({ name }) => name === 'TransE')).toMatchObject({ samples: {}, verdict: 'none found' });
  });

  test('as an example in a prompt is found by its text', async () => {
    const { known, test: [asked] } = questions; // prettier-ignore
    const ask = (example: string) => async () => {
      const model = scriptedModel(() => ({ answers: ['nolan'] }));
      const store = openCompletionStore(`${folderWith({})}/completions.jsonl`);
      const clients = createClients({ model, store, budget: 2, budgetMode: 'strict', seed: 0 });
      await clients.clientFor('q').client.decide({
        ...{ kind: 'answer', phase: 'answer', questionId: 'q', question: 'who?', task: 'Answer.', evidence: [] },
        ...{ examples: [{ question: example, reply: { answers: ['nolan'] } }], form: 'entities', withReasoning: false },
      });
      store.close();
    };
    const text = `${asked!.task.question.toUpperCase()} ?`;
    const [row] = await rowsOf(known, ask(text));
    expect(row).toMatchObject({ kind: 'few-shot example', texts: { count: 1, asked: 1 }, verdict: 'found' });
    expect((await rowsOf(known, ask('who mends clocks')))[0]).toMatchObject({ verdict: 'none found' });
  });

  test('in a graph that was collected from gold answers is found by its label', async () => {
    const { madeFrom } = await import('../../src/run/provenance.js');
    const edges = (facts: Record<string, string[]>) => rowsOf(known, () => void madeFrom('edge list', 'graph', facts));
    expect((await edges({ labels: ['fixture'], files: ['facts.tsv'] }))[0]).toMatchObject({ verdict: 'found' });
    expect((await edges({ files: ['facts.tsv'] }))[0]).toMatchObject({
      verdict: 'none found',
      why: 'read from facts.tsv',
    });
    expect((await edges({}))[0]).toMatchObject({ verdict: 'not known' });
  });
});
