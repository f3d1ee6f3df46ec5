/** The steps of the quickstart, with the seconds that their parts took on two cores: what its time to go is reckoned from. */
import type { PlannedStep } from './overall-progress.js';

/** Prompted agents of the quickstart, with the switches that the embedded model learned on. */
export const promptedAgents = ['io', 'cot', 'tog', 'self-veqa:triples=8,shots=6', 'fiske'] as const;

/** Agents on questions that neither learn nor ask a model. */
export const questionBaselines = ['random-chain', 'template-lookup'] as const;

/** @param questions how many the prompted agents are asked */
export function quickstartPlan(questions: number): PlannedStep[] {
  const asked = (seconds: number) => (seconds * questions) / 20;
  return [
    { title: 'the demo world: a knowledge graph, dialogues and questions about it', parts: { import: 2 } },
    {
      title: 'a walker that follows dialogues: embeddings, text vectors, cloning, PPO',
      parts: {
        transe: 5,
        'encode entities': 6,
        'encode messages': 12,
        'encode dialogues': 16,
        clone: 14,
        ppo: 30,
        'evaluate the best on valid': 2,
      },
    },
    {
      title: 'the same dialogues, by agents that learned less or nothing',
      parts: { random: 1, frequency: 1, transe: 1, clone: 2 },
    },
    {
      title: 'a walker that answers questions, by PPO from scratch',
      parts: { 'encode questions': 5, ppo: 20, 'evaluate the best on valid': 1 },
    },
    {
      title: 'the same questions, by agents that do not learn',
      parts: { 'random-chain': 1, 'template-lookup': 4, walker: 1 },
    },
    {
      title: 'some of them, by prompted agents over the embedded language model',
      parts: {
        'template-lookup': 3,
        io: asked(4),
        cot: asked(12),
        tog: asked(5),
        'self-veqa': asked(14),
        fiske: asked(16),
      },
    },
    { title: 'learning curves, and one page about it all', parts: { page: 5 } },
  ];
}
