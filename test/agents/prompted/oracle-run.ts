/** Question agents asked by the simulated model through the production client, kept in folders as `kgwalk evaluate` keeps them. */
import { readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { QuestionAgentResources, RelationRanker } from '../../../agents/question-agent.js';
import { questionAgents } from '../../../agents/question-agents.js';
import type { QuestionSample } from '../../../datasets/question.js';
import { loadQuestionDataset } from '../../../datasets/questions/question-dataset.js';
import { questionRunner } from '../../../evaluation/ask.js';
import { type AskedEvaluation, evaluationFiles, evaluationFolder, keepEvaluation } from '../../../evaluation/keep.js';
import { openOracle } from '../../../evaluation/oracle/open-oracle.js';
import { replayEvaluation } from '../../../evaluation/replay.js';
import { hashedEncoder } from '../../../src/encoder/hashed-encoder.js';
import { executeChain, frontierRelations } from '../../../src/kg/frontier.js';
import type { Graph } from '../../../src/kg/graph.js';
import { NameIndex } from '../../../src/kg/name-index.js';
import type { LanguageModel } from '../../../src/llm/language-model.js';
import type { QuestionRow } from '../../../tasks/questions/row.js';
import { questionScorer } from '../../../tasks/questions/score.js';
import { folderWith } from '../../fixtures/tiny-release.js';

/** Questions of a data set, and what their agents are made from. */
export interface AskedWorld {
  dataset: string;
  graph: Graph;
  names: NameIndex;
  samples: readonly QuestionSample[];
  train: readonly QuestionSample[];
}

/**
 * Questions of the valid part of some subsets of an imported data set.
 * @param count of each subset; types and lengths of names are in the same shares as in all of them: every n-th is taken of those
 *   in order of type, then of length. Default all
 */
export async function worldOf(
  dataset: string,
  subsets: readonly string[],
  { home, count = Infinity }: { home: string; count?: number },
): Promise<AskedWorld> {
  const opened = loadQuestionDataset(dataset, { home });
  const graph = await opened.loadGraph(subsets);
  const samples = subsets.flatMap((subset) => {
    const all = opened.questions(graph, { subsets: [subset], split: 'valid' });
    const inOrder = all.sort(
      ({ task: a, gold: { type: one = '' } }, { task: b, gold: { type: other = '' } }) =>
        one.localeCompare(other) || a.question.length - b.question.length || a.id.localeCompare(b.id),
    );
    const step = Math.max(1, all.length / count);
    return Array.from({ length: Math.min(count, all.length) }, (_, i) => inOrder[Math.floor(i * step)]!);
  });
  return { dataset, graph, names: new NameIndex(graph), samples, train: opened.questions(graph, { split: 'train' }) };
}

/** Agent and question. */
export interface OracleRun {
  choices: 'written' | 'likelihood';
  switches?: Readonly<Record<string, unknown>>;
  /** Default 30. */
  budget?: number;
  /** Default 0. */
  error?: number;
}

/** Files whose bytes do not depend on how an evaluation came to be. */
const results = ['asked', 'answers', 'traces', 'rows', 'evaluation'] as const;

/** An evaluation of an agent that can be made, broken off and made again. */
export async function openOracleRun(
  name: string,
  { dataset, graph, names, samples, train }: AskedWorld,
  { choices, switches = {}, budget = 30, error = 0 }: OracleRun,
) {
  const resources: QuestionAgentResources = {
    ...{ dataset, graph, names, seed: 0, train: () => train },
    encoder: () => Promise.resolve(hashedEncoder(64)),
    walker: () => Promise.resolve(knowingWalker(graph, samples)),
  };
  const agent = await questionAgents.create(name, resources, switches);
  const { topicGiven } = agent;
  const simulated = openOracle({ graph: graph.local, samples, error, seed: 3 });
  const subsets = [...new Set(samples.map(({ task }) => task.subset))];
  const about = {
    ...{ dataset, graph: graph.name, subsets, split: 'valid', holdOut: 'question', seed: 0, topicGiven },
    ...{ model: simulated.name, simulated: true, budget, budgetMode: 'strict' as const, switches },
    ...(choices === 'likelihood' && { choices: 'likelihood' as const }),
  };
  const asked: AskedEvaluation = {
    ...{ schemaVersion: 2, kind: 'evaluation', task: 'questions', agent: name, about },
    ...{ modelId: simulated.id, resamples: 20, hashes: { graph: graph.hash } },
  };
  const scorer = questionScorer({ graph, names, budget, topicGiven });
  const asker = questionRunner(agent);

  /** @param completions what an evaluation that was killed had in store */
  async function run(completions?: Uint8Array) {
    const place = basename(evaluationFolder(asked, {}));
    const root = folderWith(completions ? { [join(place, 'completions.jsonl')]: completions } : {});
    const { model, count } = counted(simulated);
    const folder = evaluationFolder(asked, { root });
    const { rows, failures } = await keepEvaluation(asker, samples, scorer, { asked, folder, model });
    const files = evaluationFiles(folder);
    const bytes = results.map((one) => readFileSync(files[one], 'latin1'));
    return { folder, rows, failures, bytes, completions: readFileSync(files.completions), asked: count() };
  }
  return {
    run,
    replay: (folder: string) => replayEvaluation(asker, samples, scorer, { asked: { ...asked, folder } }),
  };
}

/**
 * Stands in for a trained one: its best walk is the gold chain, cut or extended to a given length; others end with
 * another relation.
 */
function knowingWalker(graph: Graph, samples: readonly QuestionSample[]): RelationRanker {
  const golds = new Map(samples.map(({ task, gold }) => [task.id, gold.chains[0]!]));
  return {
    prepare: () => Promise.resolve(),
    shares: () => Promise.resolve(undefined),
    walks({ id, topics: named }, count, hops) {
      const topics = named.map(({ entity }) => entity);
      const onward = (chain: readonly number[]) => {
        return [...frontierRelations(graph, executeChain(graph, topics, chain), topics)];
      };
      let chain = golds.get(id)!.slice(0, hops);
      while (chain.length < (hops ?? 0) && onward(chain).length > 0) chain = [...chain, onward(chain)[0]!];
      const before = chain.slice(0, -1);
      const others = onward(before).filter((relation) => relation !== chain.at(-1));
      const walks = [chain.at(-1)!, ...others].slice(0, count).map((relation) => [...before, relation]);
      return Promise.resolve(walks.map((relations) => ({ relations, probability: 1 / walks.length })));
    },
  };
}

/** A model that counts what it is asked. */
function counted(model: LanguageModel): { model: LanguageModel; count: () => number } {
  let asked = 0;
  const { scoreTexts } = model;
  const counting: LanguageModel = {
    ...model,
    complete(request) {
      asked++;
      return model.complete(request);
    },
    ...(scoreTexts && {
      scoreTexts(request, texts) {
        asked++;
        return scoreTexts(request, texts);
      },
    }),
  };
  return { model: counting, count: () => asked };
}

/** Mean over questions. */
export function meanOf(rows: readonly QuestionRow[], value: (row: QuestionRow) => number): number {
  return rows.reduce((sum, row) => sum + value(row), 0) / rows.length;
}
