/** Answers questions by looking their template up: what a benchmark gives away without any learning. */
import { z } from 'zod';
import { maskedQuestion, type QuestionTask } from '../../datasets/question.js';
import { frontierTrie } from '../../envs/relation-walk/frontier-trie.js';
import { questionRoot } from '../../envs/relation-walk/relation-walk-env.js';
import { chainAnswer, noAnswer } from '../chain-answer.js';
import type { QuestionAgentEntry } from '../question-agent.js';
import { nearestText } from './nearest-text.js';
import { bestTemplateChains } from './template-chains.js';

const settings = z.strictObject({
  horizon: z.int().min(1).max(4).default(3).describe('Longest relation sequence that is tried.'),
  screened: z
    .int()
    .min(1)
    .max(1_000_000)
    .default(8)
    .describe('Questions a template over which every relation sequence is tried; the best four are weighed over all.'),
  widest: z
    .int()
    .min(1)
    .default(1000)
    .describe('Sequences are not tried beyond a frontier of more entities than this.'),
  unseen: z
    .enum(['nearest', 'abstain'])
    .default('nearest')
    .describe(
      'What a template gets that train lacks: the sequence of the nearest train template by vector, or no answer.',
    ),
});

/**
 * Inputs: the question's template, the topic; train questions with their answers, whose gold chains are not read. Calls:
 * none. Stop: at once. Output: everything behind the relation sequence that answered the train questions of the same
 * template best (mean F1); a template that train lacks takes that of the nearest.
 *
 * Put it beside every trained or prompted agent: on a random split of MetaQA it reaches the ceiling.
 */
export const templateLookupEntry: QuestionAgentEntry<typeof settings> = {
  settings,
  needs: ['train', 'encoder'],
  create({ graph, train, encoder }, { horizon, screened, widest, unseen }) {
    let chains: ReadonlyMap<string, Int32Array> | undefined;
    const chainsOf = () => (chains ??= bestTemplateChains(graph, train(), { horizon, screened, widest }));
    let nearest: ReturnType<typeof nearestText> | undefined;
    /** Places of the nearest known templates, by unseen template. */
    const found = new Map<string, string>();
    const trie = frontierTrie(graph);

    const find = async (tasks: readonly QuestionTask[], signal?: AbortSignal) => {
      const known = chainsOf();
      const templates = [...known.keys()];
      const asked = [...new Set(tasks.map(maskedQuestion))].filter((text) => !known.has(text) && !found.has(text));
      if (unseen === 'abstain' || asked.length === 0 || templates.length === 0) return;
      nearest ??= nearestText(templates, encoder);
      const places = await nearest(asked, signal);
      asked.forEach((text, i) => found.set(text, templates[places[i]!]!));
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
        const template = chainsOf().has(text) ? text : found.get(text);
        const chain = template === undefined ? undefined : chainsOf().get(template);
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
