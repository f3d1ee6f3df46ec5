/** Questions worked out: what was asked, what is right, and what each agent said to it. */
import type { QuestionExample } from '../src/run/question-records.js';
import type { QuestionExampleView, SaidView } from './html.js';
import { plain } from './numbers.js';
import { titleOfQuestions } from './question-results.js';
import type { QuestionSet } from './question-results.js';
import { chainText } from './relations.js';

/** Questions that are shown of every set. */
const shown = 4;

/** The first worked questions of a set, with the answers of all agents that have them. */
export function questionExamples(set: QuestionSet): QuestionExampleView[] {
  const { rows } = set;
  const first = rows.find(({ examples }) => examples.length > 0);
  return (first?.examples ?? []).slice(0, shown).map((example) => ({
    id: `${titleOfQuestions(set)}, ${example.id}${example.type === undefined ? '' : `, ${example.type}`}`,
    question: example.question,
    topics: example.topics.join('; '),
    gold: listed(example.gold, example.golds),
    goldChain: chainText(example.goldChain ?? []),
    said: rows.flatMap(({ label, model, simulated, examples }): SaidView[] => {
      const own = examples.find(({ id }) => id === example.id);
      if (!own) return [];
      const asked = model === undefined ? '' : simulated ? `${model}, simulated` : model;
      return [{ agent: label, model: asked, ...saidView(own) }];
    }),
  }));
}

function saidView(example: QuestionExample): Omit<SaidView, 'agent' | 'model'> {
  const { right, exact, miss, answer, answers, chain, evidence, calls, stop, steps } = example;
  const tokens = calls.reduce((sum, { promptTokens, completionTokens }) => sum + promptTokens + completionTokens, 0);
  return {
    right,
    verdict: right ? (exact ? 'right' : 'right, not exact') : (miss ?? 'wrong').replaceAll('-', ' '),
    answer: answer.length > 0 ? listed(answer, answers) : 'no answer',
    chain: chainText(chain ?? []),
    evidence: evidence.map((fact) => `${fact[0]} ${chainText([fact[1]])} ${fact[2]}`),
    cost: `${plain(calls.length)} ${calls.length === 1 ? 'call' : 'calls'}${tokens > 0 ? `, ${plain(tokens)} tokens` : ''}; ended by ${stop}`,
    calls: calls.map(
      ({ phase, stage, promptTokens, completionTokens }) =>
        `${phase}: ${plain(promptTokens)} tokens in, ${plain(completionTokens)} out, reply ${stage.replace('-', ' ')}`,
    ),
    steps,
  };
}

function listed(names: readonly string[], count: number): string {
  const more = count - names.length;
  return names.join('; ') + (more > 0 ? ` … and ${plain(more)} more` : '');
}
