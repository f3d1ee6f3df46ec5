/** Lookup of question templates: the part of a benchmark that needs no learning. */
import { z } from 'zod';
import { choice, whole } from '../registry.js';
import { excludedTopics, maskedQuestion, type QuestionSample, type QuestionTask } from '../../datasets/question.js';
import { madeFromSamples } from '../../datasets/sample-source.js';
import { goldSet, scoreFrontier } from '../../envs/relation-walk/rules.js';
import { frontierTrie } from '../../envs/relation-walk/frontier-trie.js';
import { questionRoot } from '../../envs/relation-walk/relation-walk-env.js';
import { dot, type StateEncoder, unitVectors } from '../../src/encoder/state-encoder.js';
import { executeChain } from '../../src/kg/frontier.js';
import { byIds, type Graph } from '../../src/kg/graph.js';
import { chainAnswer, noAnswer, type QuestionAgentEntry } from '../question-agent.js';
import { ChainFinder } from '../readers/chains/feasible.js';

const settings = z.strictObject({
  horizon: whole(1, 4, 3).describe('Maximum length of relation sequences.'),
  screened: whole(1, 1_000_000, 8).describe(
    'Questions per template for screening all relation sequences; the best four are scored on all.',
  ),
  widest: z.int().min(1).default(1000).describe('Maximum frontier size; sequences are not extended beyond it.'),
  unseen: choice(['nearest', 'abstain'], 'nearest').describe(
    'Unseen templates: use the sequence of the nearest train template by vector, or give no answer.',
  ),
});

/**
 * Inputs: question template, topic; train questions with answers (gold chains are not read). Calls: none. Stop: at once. Output: all
 * entities behind the relation sequence with the best mean F1 on train questions of the same template; unseen templates use the nearest
 * one. Report it next to every trained or prompted agent: on a random split of MetaQA it reaches the ceiling.
 */
export const templateLookupEntry: QuestionAgentEntry<typeof settings> = {
  settings,
  needs: ['train', 'encoder'],
  async create({ graph, train, encoder }, { horizon, screened, widest, unseen }) {
    let chains: ReturnType<typeof templateChains> | undefined;
    const chainsOf = () => (chains ??= templateChains(graph, train(), { horizon, screened, widest }));
    const vectors = unseen === 'nearest' ? await encoder() : undefined;
    let nearest: ReturnType<typeof nearestText> | undefined;
    /** Nearest known template by unseen template. */
    const found = new Map<string, string>();
    const trie = frontierTrie(graph);

    const find = async (tasks: readonly QuestionTask[], signal?: AbortSignal) => {
      const { chainOf, known } = chainsOf();
      const asked = [...new Set(tasks.map(maskedQuestion))].filter((text) => !found.has(text) && !chainOf(text));
      if (!vectors || asked.length === 0) return;
      const templates = known();
      if (templates.length === 0) return;
      nearest ??= nearestText(templates, vectors);
      const indices = await nearest(asked, signal);
      asked.forEach((text, i) => found.set(text, templates[indices[i]!]!));
    };

    return {
      name: 'template-lookup',
      note: 'looks the best relations of a question template up in train; learns nothing',
      topicGiven: true,
      prompted: false,
      prepare: find,
      async answer(task, { trace, signal }) {
        if (task.form !== 'entities') return noAnswer('form');
        await find([task], signal);
        const text = maskedQuestion(task);
        const { chainOf } = chainsOf();
        const template = chainOf(text) ? text : found.get(text);
        const chain = template === undefined ? undefined : chainOf(template);
        if (!chain) return noAnswer('unseen template');
        let node = questionRoot(trie, task);
        trace({ event: 'start', entities: node.topics });
        if (template !== text) trace({ event: 'note', text: `nearest template: ${template!}` });
        for (const relation of chain) node = node.follow(relation);
        const stop = node.frontier.entities.length > 0 ? 'looked up' : 'dead end';
        trace({ event: 'stop', reason: stop });
        return chainAnswer(graph, node, { stop, cost: { graphReads: chain.length } });
      },
    };
  },
};

/** Sequences kept after the screening. */
const finalists = 4;

type Candidate = { relations: Int32Array; sum: number };

/**
 * Relation sequence with the best mean F1 over the train questions of each template; sequences without a result score 0. Ties: shorter,
 * then smaller ids. Templates without a reachable answer are left out. All of train is read at once, sequences are searched when asked for.
 * @param train the only questions that a lookup may learn from; gold chains are not read
 * @returns `chainOf` a template, and the templates that have one, in order of first appearance
 */
export function templateChains(
  graph: Graph,
  train: readonly QuestionSample[],
  { horizon, screened, widest }: Omit<z.output<typeof settings>, 'unseen'>,
) {
  const questionsOf = new Map<string, QuestionSample[]>();
  const note = madeFromSamples('memory', 'relations of question templates');
  for (const sample of train) {
    if (sample.task.form !== 'entities') continue;
    note(sample);
    const template = maskedQuestion(sample.task);
    const questions = questionsOf.get(template);
    if (questions) questions.push(sample);
    else questionsOf.set(template, [sample]);
  }
  const finder = new ChainFinder(graph);
  const search = (questions: readonly QuestionSample[]): Int32Array | undefined => {
    const candidates = new Map<string, Candidate>();
    for (const { task, gold } of questions.slice(0, screened)) {
      const { relations, offsets, f1 } = finder.find(task, goldSet(gold), { horizon, widest });
      f1.forEach((score, c) => {
        if (score === 0) return;
        const chain = relations.slice(offsets[c], offsets[c + 1]);
        const candidate = candidates.get(chain.join()) ?? { relations: chain, sum: 0 };
        candidates.set(chain.join(), candidate);
        candidate.sum += score;
      });
    }
    let best = [...candidates.values()].sort(better).slice(0, finalists);
    for (let i = screened; i < questions.length && best.length > 1; i++) {
      const { task, gold } = questions[i]!;
      const topics = task.topics.map(({ entity }) => entity);
      for (const candidate of best) {
        const frontier = executeChain(graph, topics, [...candidate.relations], excludedTopics(task));
        candidate.sum += scoreFrontier(frontier, goldSet(gold)).f1;
      }
      // Each remaining question adds at most 1.
      const least = Math.max(...best.map(({ sum }) => sum)) - (questions.length - i);
      best = best.filter(({ sum }) => sum > least);
    }
    return best.sort(better)[0]?.relations;
  };
  const chains = new Map<string, Int32Array | undefined>();
  const chainOf = (template: string): Int32Array | undefined => {
    if (!chains.has(template)) chains.set(template, search(questionsOf.get(template) ?? []));
    return chains.get(template);
  };
  return { chainOf, known: () => [...questionsOf.keys()].filter(chainOf) };
}

/** Compares sums to nine digits, to ignore rounding. */
function better(a: Candidate, b: Candidate): number {
  if (Math.abs(a.sum - b.sum) > 1e-9) return b.sum - a.sum;
  return a.relations.length - b.relations.length || byIds(a.relations, b.relations);
}

/** Index of the nearest known text for each query; ties go to the first. @param known at least one; encoded at the first call */
export function nearestText(known: readonly string[], encoder: StateEncoder) {
  let table: Promise<Float32Array[]> | undefined;
  return async (asked: readonly string[], signal?: AbortSignal): Promise<number[]> => {
    const knownRows = await (table ??= unitVectors(encoder, known));
    return (await unitVectors(encoder, asked, signal)).map((row) => {
      const cosines = knownRows.map((other) => dot(row, other));
      return cosines.reduce((best, cosine, i) => (cosine > cosines[best]! ? i : best), 0);
    });
  };
}
