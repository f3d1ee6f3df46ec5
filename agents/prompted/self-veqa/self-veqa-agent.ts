/**
 * Self-VEQA: one role of the model proposes relation chains after solved questions like this one, the chains are executed,
 * another role says which of them answers the question or what is wrong, and its critique goes into the next round.
 *
 * Inputs: the question, its topic entities, the number of hops where the data set tells it; solved questions of train.
 * Calls: 2 a round, 1 where no chain leads anywhere; 2 to 4 with two rounds. Stop: `verified`, `unverified` (verifier
 * off), `rounds`, `exhausted` (no chain left), `no-topic`, `budget`. Output: everything that the chosen chain leads to; a statement holds
 * where it names some of that.
 *
 * Where the paper differs: chains are written freely and may not exist (here the grammar holds those that do), and the
 * verifier copies answers (`verifier: reference`; here it names a chain). What it leaves open is decided in
 * docs/decisions/prompted-agents.md.
 * @source "Self-VEQA: Self-verification enhanced question answering agent", section 3
 */
import { maskedQuestion, type QuestionSample, type QuestionTask } from '../../../datasets/question.js';
import type { StateEncoder } from '../../../src/encoder/state-encoder.js';
import type { QuestionAgent } from '../../question-agent.js';
import type { QuestionAgentEntry } from '../../question-agent.js';
import { openBackend } from '../../../src/tensor/backend.js';
import { answerQuestion, type Parts } from './answer-question.js';
import { chainMemory, trainEntries } from './chain-memory.js';
import { selfVeqaSettings } from './settings.js';
import { textVectors } from './text-vectors.js';

/** The agent `self-veqa` with its switches. */
export const selfVeqaEntry: QuestionAgentEntry<typeof selfVeqaSettings> = {
  settings: selfVeqaSettings,
  needs: ['model', 'encoder', 'train'],
  async create(resources, settings): Promise<QuestionAgent> {
    const remembers = settings.memory !== 'off';
    const predicts = settings.hops === 'predicted';
    const encoder = remembers || predicts || settings.triples > 0 ? await resources.encoder() : undefined;
    const vectors = encoder && textVectors(encoder);
    const memory =
      remembers && vectors
        ? chainMemory(vectors, trainEntries(resources.train(), settings.memoryPerChain, resources.seed))
        : undefined;
    const predictHops = predicts && encoder ? await trainedPredictor(encoder, resources.train()) : undefined;
    const parts: Parts = { resources, settings, encoder, vectors, memory, predictHops };
    return {
      name: 'self-veqa',
      topicGiven: true,
      prompted: true,
      online: settings.memory === 'online',
      async prepare(tasks: readonly QuestionTask[], signal?: AbortSignal) {
        await memory?.encode(signal);
        await vectors?.of(tasks.map(maskedQuestion), signal);
      },
      answer: (task, session) => answerQuestion(task, session, parts),
    };
  },
};

/** Loaded and trained on first need: the others do without tensors. */
async function trainedPredictor(
  encoder: StateEncoder,
  train: readonly QuestionSample[],
): Promise<Parts['predictHops']> {
  const { hopPredictor } = await import('../../learned/hop-predictor.js');
  const { tf } = await openBackend('auto', { rows: 256, inputs: encoder.dim, units: 4 });
  const predict = await hopPredictor(tf, encoder, train);
  return async (task, signal) => (await predict([task], signal))[0]!;
}
