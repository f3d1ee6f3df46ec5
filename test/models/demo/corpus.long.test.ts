import { beforeAll, describe, expect, test } from '@jest/globals';
import { lastMessageText, windowText } from '../../../agents/dialogue-walker/vectors.js';
import { maskedQuestion } from '../../../datasets/question.js';
import { importDemo } from '../../../datasets/demo/import.js';
import { loadQuestionDataset } from '../../../datasets/questions/question-dataset.js';
import { loadDialogueDataset } from '../../../datasets/dialogues/dialogue-dataset.js';
import { walkSamples } from '../../../datasets/walk-sample.js';
import { corpusDocuments, type CorpusOptions } from '../../../models/demo/corpus.js';
import type { CorpusDraft } from '../../../models/demo/corpus/draft.js';
import { recordedDialogues } from '../../../models/demo/corpus/record-dialogues.js';
import { recordedQuestions } from '../../../models/demo/corpus/record-questions.js';
import type { RecordedDecision } from '../../../models/demo/corpus/recording-model.js';
import { type CorpusWorld, loadCorpusWorld } from '../../../models/demo/corpus/world.js';
import { decisionDraft } from '../../../models/demo/corpus/decisions.js';
import { chatSegments } from '../../../models/llama/chat-segments.js';
import { type CorpusSegment, sizeOf } from '../../../models/llama/corpus-document.js';
import { readReply, replyFormat } from '../../../src/llm/decisions/reply-forms.js';
import { type Chosen, plainHead, plainRelation } from '../../../src/llm/decisions/likelihood/plain-text.js';
import { Rng } from '../../../src/run/seeds.js';
import { grammarAccepts } from '../../fixtures/gbnf-acceptor.js';
import { folderWith } from '../../fixtures/tiny-release.js';

const home = folderWith({});
const settings = { seed: 3, entities: 300, triples: 1500, dialogues: 40, questions: 200 };
const contextLength = 1024;
const countTokens = (text: string) => Math.ceil(text.length / 3);

let world: CorpusWorld;
let fitted: CorpusDraft[];

beforeAll(async () => {
  await importDemo({ settings, home });
  world = await loadCorpusWorld({ home, more: 200 });
  fitted = await some({ characters: 120_000 });
});

async function some(options: Partial<CorpusOptions> = {}): Promise<CorpusDraft[]> {
  const drafts: CorpusDraft[] = [];
  for await (const draft of corpusDocuments({ world, seed: 1, split: 'fit', characters: 40_000, ...options })) {
    drafts.push(draft);
  }
  return drafts;
}

async function first<T>(count: number, source: AsyncIterable<T>): Promise<T[]> {
  const items: T[] = [];
  for await (const item of source) if (items.push(item) === count) break;
  return items;
}

const textOf = ({ segments }: { segments: readonly CorpusSegment[] }) =>
  segments.map((segment) => ('text' in segment ? segment.text : `<${segment.special}>`)).join('');

async function heldQuestions(): Promise<string[]> {
  const dataset = loadQuestionDataset('demo-questions', { home });
  const graph = await dataset.loadGraph();
  return (['valid', 'test'] as const).flatMap((split) =>
    dataset.questions(graph, { split }).map(({ task }) => task.question),
  );
}

async function samplesOf(split: 'train' | 'valid' | 'test') {
  const dataset = loadDialogueDataset('demo', { home });
  return walkSamples(dataset.loadDialogues(split), await dataset.loadGraph());
}

describe('what the demo’s model learns from', () => {
  test('holds no question and no dialogue of valid or test', async () => {
    const texts = fitted.map(textOf).join('\n');
    for (const question of await heldQuestions()) expect(texts).not.toContain(`${question}\n`);
    const train = new Set((await samplesOf('train')).map(({ task }) => windowText(task, 3)));
    for (const split of ['valid', 'test'] as const) {
      for (const { task } of await samplesOf(split)) {
        const said = windowText(task, 3);
        if (!train.has(said)) expect(texts).not.toContain(`${said}<`);
      }
    }
  });

  test('is the same for the same seed, and another for another', async () => {
    const [a, b, c] = [await some(), await some(), await some({ seed: 2 })];
    expect(b).toEqual(a);
    expect(c.slice(0, 20)).not.toEqual(a.slice(0, 20));
  });

  test('gives each kind its share, in any part of it', () => {
    const share = (drafts: readonly CorpusDraft[]) => {
      const decisions = drafts.filter(({ kind }) => kind === 'decision' || kind === 'likelihood');
      const sum = (all: readonly CorpusDraft[]) => all.reduce((total, draft) => total + sizeOf(draft), 0);
      return sum(decisions) / sum(drafts);
    };
    expect(share(fitted)).toBeGreaterThan(0.53);
    const half = fitted.slice(0, fitted.length / 2);
    expect(Math.abs(share(half) - share(fitted))).toBeLessThan(0.1);
  });

  test('keeps what is watched out of what is fitted', async () => {
    const sources = async (split: 'fit' | 'watch') =>
      new Set((await some({ split, characters: 20_000 })).flatMap(({ source }) => source?.id ?? []));
    const [fit, watch] = [await sources('fit'), await sources('watch')];
    expect(watch.size).toBeGreaterThan(3);
    for (const source of watch) expect(fit).not.toContain(source);
  });
});

describe('states', () => {
  test('begin with a text that the walkers encode', async () => {
    const states = fitted.filter(({ kind }) => kind === 'state');
    const train = await samplesOf('train');
    const dialogueTexts = train.flatMap(({ task }) => [lastMessageText(task), windowText(task, 3)]);
    const questionTexts = new Set(world.questions.train.flatMap(({ task }) => [task.question, maskedQuestion(task)]));
    const targetOf = (draft: CorpusDraft) => (draft.segments[1] as { text: string }).text;
    for (const draft of states.slice(0, 300)) {
      const shape = draft.segments.map((segment) => ('text' in segment ? 'text' : segment.special)).join(' ');
      expect(shape).toMatch(/^bos text eos text (?:text )?eos$/);
      // Long ones are cut from their beginning.
      if (draft.phase === 'window' || draft.phase === 'last-message') {
        expect(dialogueTexts.some((text) => text.endsWith(targetOf(draft)))).toBe(true);
      }
      if (draft.phase === 'question') expect(questionTexts).toContain(targetOf(draft));
      if (draft.phase === 'entity') expect(world.walks.graph.entityNames).toContain(targetOf(draft));
    }
    expect(new Set(states.map(({ phase }) => phase)).size).toBe(5);
  });
});

describe('recitals', () => {
  test('say the names twice, and count the second time alone', () => {
    const recitals = fitted.filter(({ phase }) => phase === 'recital');
    expect(recitals.length).toBeGreaterThan(10);
    const names = world.questions.graph.entityNames;
    for (const { segments } of recitals) {
      const [first, again] = segments.filter((segment) => 'text' in segment);
      expect([first!.weight, again!.weight]).toEqual([0, 1]);
      const named = (text: string) => names.filter((name) => text.includes(name));
      expect(named(again!.text)).toEqual(named(first!.text));
      expect(named(first!.text).length).toBeGreaterThan(1);
    }
  });
});

describe('documents for likelihood', () => {
  const phaseOf = ({ phase }: CorpusDraft) => phase.replace('-alone', '') as Chosen;
  const textsOf = ({ segments }: CorpusDraft) => segments.flatMap((segment) => ('text' in segment ? [segment] : []));
  const documents = () => fitted.filter(({ kind }) => kind === 'likelihood');

  test('are about a fifth of the text, with relations, chains and statements', () => {
    const sum = (all: readonly CorpusDraft[]) => all.reduce((total, draft) => total + sizeOf(draft), 0);
    expect(Math.abs(sum(documents()) / sum(fitted) - 0.2)).toBeLessThan(0.05);
    const phases = new Set(documents().map(({ phase }) => phase));
    for (const phase of ['relation', 'relation-alone', 'chain', 'chain-alone', 'truth'])
      expect(phases).toContain(phase);
  });

  test('begin as scored texts do, with the worked examples or without, and count the words of what is right in full', () => {
    for (const draft of documents()) {
      const texts = textsOf(draft);
      const [body, right] = texts.slice(-2);
      if (texts.length === 3) expect(texts[0]).toEqual({ text: plainHead(phaseOf(draft)), weight: 0 });
      expect(body!.text.endsWith('=') || body!.text.endsWith(', then')).toBe(true);
      expect(body!.weight).toBeLessThan(0.1);
      expect(right!.text).toMatch(/^ \S/);
      expect(right!.weight).toBeGreaterThan(0.2);
      if (draft.phase.endsWith('-alone')) expect(body!.text).toMatch(/^\n\? =/);
    }
    expect(new Set(documents().map((draft) => textsOf(draft).length))).toEqual(new Set([2, 3]));
  });

  test('name a relation of the gold chain, at the first step and at later ones', () => {
    const { graph, asked } = world.questions;
    const golds = new Map(
      asked.map(({ task, gold }) => [task.id, gold.chains.flat().map((id) => plainRelation(graph.relationNames[id]!))]),
    );
    const relations = documents().filter(({ phase }) => phase === 'relation');
    for (const draft of relations) expect(golds.get(draft.source!.id)).toContain(textsOf(draft).at(-1)!.text.trim());
    const later = relations.filter((draft) => textsOf(draft).at(-2)!.text.endsWith(', then'));
    expect(later.length).toBeGreaterThan(relations.length / 10);
    expect(later.length).toBeLessThan(relations.length);
  });

  test('no list of scores is written any more', () => {
    expect(fitted.filter(({ phase }) => /relation-prune|entity-prune/.test(phase))).toEqual([]);
  });
});

describe('decisions', () => {
  const options = { seed: 1, contextLength, countTokens };
  const source = { of: 'questions', id: 'x' } as const;
  let records: RecordedDecision[];

  beforeAll(async () => {
    records = [
      ...(await first(250, recordedQuestions(world.questions, options))),
      ...(await first(30, recordedDialogues(world.walks, options))),
    ];
  });

  test('come from every phase of every agent', () => {
    const phases = new Set(records.map(({ decision }) => decision.phase));
    expect([...phases].sort()).toEqual([
      ...['answer', 'ark-normal', 'ark-opa', 'ark-standard', 'clues', 'cot', 'direct-answer', 'entity-map'],
      ...['entity-prune', 'io', 'judge', 'propose', 'relation-map', 'relation-prune', 'verify'],
    ]);
  });

  test('have replies that their grammars derive and that the production parser reads', () => {
    for (const { decision, reply } of records) {
      expect(grammarAccepts(replyFormat(decision).gbnf)(reply)).toBe(true);
      expect(readReply(decision, reply, { constrained: true })?.stage).toBe('constrained');
    }
  });

  test('fit the context together with their replies', () => {
    for (const { request, reply } of records) {
      const { system, head, body } = request;
      expect(countTokens(system + head + body + reply)).toBeLessThan(contextLength);
    }
  });

  test('are laid out as the model gets them, with the weight on the reply', () => {
    for (const record of records) {
      const { request, reply } = record;
      const { segments } = decisionDraft(record, source, new Rng(1), { bodyWeight: 0.05, withoutExamples: 0 });
      expect(textOf({ segments })).toBe(
        textOf({ segments: chatSegments(request.system, request.head, request.body, reply) }),
      );
      const weighty = segments.filter(({ weight }) => weight === 1);
      expect(weighty.at(-1)).toEqual({ special: 'im_end', weight: 1 });
      expect(reply.startsWith((weighty[0] as { text: string }).text)).toBe(true);
    }
  });

  test('lose their examples and nothing else where the head is to be short', () => {
    const long = records.find(({ decision }) => decision.phase === 'relation-map')!;
    const short = textOf(decisionDraft(long, source, new Rng(1), { bodyWeight: 0, withoutExamples: 1 }));
    expect(short).not.toContain('Example\n');
    expect(short).toContain(long.request.body);
    expect(long.request.head.startsWith(short.slice(short.indexOf(long.decision.task), short.indexOf('Task\n')))).toBe(
      true,
    );
  });
});
