/** Readers by kind, and out of their runs, as agents that answer questions. */
import { z } from 'zod';
import { frontierTrie } from '../../envs/relation-walk/frontier-trie.js';
import { relationWalkSettings } from '../../envs/settings.js';
import type { QuestionAgent } from '../question-agent.js';
import { relationWalkerSettings } from '../relation-walker/settings.js';
import type { RunCheckpoint } from '../method.js';
import { type LoadedQuestionWalker, loadQuestionWalker, type QuestionOptions } from '../trained-run.js';
import { requireSimd } from '../../src/nn/open-executor.js';
import { WorkbenchError } from '../../src/run/errors.js';
import { nsmChains, transferNetChains } from './chains/attention.js';
import { independent } from './chains/independent.js';
import { walkerChains } from './chains/walker.js';
import { embedKgqa } from './embed-kgqa/embed-kgqa.js';
import { kvMem } from './entities/kv-mem.js';
import { nsm } from './entities/nsm.js';
import { uniKgqa } from './entities/uni-kgqa.js';
import { readBasis, type ReaderFacts } from './facts.js';
import type { Reader, ReaderKind } from './reader.js';
import { type ReaderKindName, readerSettings } from './settings.js';

const kinds: Readonly<Record<ReaderKindName, ReaderKind>> = {
  'nsm-chains': nsmChains,
  'transfernet-chains': transferNetChains,
  independent,
  'walker-chains': walkerChains,
  'uni-kgqa': uniKgqa,
  'embed-kgqa': embedKgqa,
  nsm,
  'kv-mem': kvMem,
};

/** A kind of reader by the name that settings have for it. */
export const readerKind = (name: ReaderKindName): ReaderKind => kinds[name];

/** Sections that loading needs. */
const sections = {
  seed: z.int(),
  relationWalk: relationWalkSettings,
  relationWalker: relationWalkerSettings,
  reader: readerSettings,
};

/** @throws as `loadQuestionWalker`, and WorkbenchError `data` for a run that has trained nothing, `usage` for several runs */
export function loadReaderRuns(
  runs: readonly RunCheckpoint[],
  options: QuestionOptions,
): Promise<LoadedQuestionWalker> {
  const [run] = runs as [RunCheckpoint];
  if (runs.length > 1) {
    throw new WorkbenchError('usage', `expected runs that walk relations, got ${run.folder} among those that are one`, {
      hint: 'Of questions walkers over relations are averaged. Name other runs one by one.',
    });
  }
  requireSimd(options.backend ?? 'simd');
  return loadQuestionWalker(run, sections, options, async ({ folder, settings, tensors, graph, encoder }) => {
    const { name, reader: own, relationWalk, relationWalker, seed } = settings;
    const kind = readerKind(own.kind);
    const facts: ReaderFacts = {
      graph,
      encoder,
      seed,
      folder,
      settings: own,
      horizon: relationWalk.horizon,
      maxTokens: relationWalker.maxTokens,
      frontiers: frontierTrie(graph, relationWalk.memoryMegabytes * 2 ** 20),
    };
    const reader = await kind.create(facts, readBasis(folder));
    reader.restore(tensors);
    return { agent: readerAgent(name, kind, reader, facts), dispose: () => reader.dispose() };
  });
}

/** A reader as an agent; it is given the topic, and the hops where its settings say so. */
export function readerAgent(
  name: string,
  { title, hopsGiven }: Pick<ReaderKind, 'title' | 'hopsGiven'>,
  reader: Pick<Reader, 'prepare' | 'answer'>,
  { settings }: Pick<ReaderFacts, 'settings'>,
): QuestionAgent {
  const given = hopsGiven?.(settings) ?? settings.hops === 'given';
  return {
    name,
    note: title,
    topicGiven: true,
    prompted: false,
    hopSource: () => (given ? 'given' : 'none'),
    prepare: reader.prepare && ((tasks, signal) => reader.prepare!(tasks, signal)),
    answer: (task, session) => reader.answer(task, session),
  };
}
