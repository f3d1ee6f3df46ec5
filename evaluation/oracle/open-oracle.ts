/**
 * The noisy oracle: a simulated language model that knows the gold, for comparing algorithms by calls, tokens and
 * robustness apart from any model. It writes replies as text, so that prompts, parsers, budget and accounting run as ever.
 *
 * It answers from the facts that stand in a decision, and from no others: an answer is a right one that the facts name,
 * facts suffice when they name all right ones. What to follow it knows from executing the gold chains.
 */
import { createHash } from 'node:crypto';
import type { QuestionSample } from '../../datasets/question.js';
import type { Graph } from '../../src/kg/graph.js';
import { writeReply } from '../../src/llm/decisions/reply-forms.js';
import { simulatedPrior } from '../../src/llm/client/score-texts.js';
import type { Decision } from '../../src/llm/decision.js';
import { countWordPieces, type LanguageModel, wordPieceTokenizer } from '../../src/llm/language-model.js';
import { WorkbenchError } from '../../src/run/errors.js';
import { Rng } from '../../src/run/seeds.js';
import { throwIfStopped } from '../../src/run/stop.js';
import { confusedError, confusionOf } from './confusion.js';
import { type QuestionFacts, questionFacts } from './question-facts.js';
import { rightReply, rightTexts } from './right-reply.js';
import { wrongReply } from './wrong-reply.js';

/** Changes with the rules, so that completions of older ones are not taken for its own. */
const rules = 2;
/** Questions whose executed gold is kept: many more than are ever under way at once. */
const keptQuestions = 256;
const keptHeads = 256;
/** Agents that answer without evidence: there is nothing for it to read. */
const unsimulated = ['io', 'cot'];

interface OracleSettings {
  /** Only read. */
  graph: Graph;
  /** Questions that may be asked, with their gold. */
  samples: readonly QuestionSample[];
  /** Probability, in [0, 1], that a decision is taken wrongly. */
  error: number;
  /** Growth of errors with what is offered, at least 0; see `confusedError`. Default 0. */
  confuse?: number;
  seed: number;
}

/**
 * The error rate of a model given as `oracle:E` or `oracle:E,confuse=K`, `oracle` being 0; undefined for any other model.
 * @throws WorkbenchError `usage` for a rate that is no number in [0, 1], or a K that is none from 0
 */
export function oracleRates(model: string): { error: number; confuse: number } | undefined {
  if (model !== 'oracle' && !model.startsWith('oracle:')) return undefined;
  const [written = '', confusing = '0', ...more] = model.slice('oracle:'.length).split(',confuse=');
  const [error, confuse] = [model === 'oracle' ? 0 : Number(written), Number(confusing)];
  const isRate = error >= 0 && error <= 1 && (model === 'oracle' || written.trim() !== '');
  const isConfusion = confuse >= 0 && confuse < Infinity && confusing.trim() !== '' && more.length === 0;
  if (isRate && isConfusion) return { error, confuse };
  const [wanted, got] = isRate ? ['a number from 0', confusing] : ['an error rate from 0 to 1', written];
  throw new WorkbenchError('usage', `expected ${wanted}, got ${JSON.stringify(got)}, at --model`, {
    hint: 'Such as --model oracle:0.1 or --model oracle:0.1,confuse=0.5.',
  });
}

/**
 * A decision goes wrong with probability `error`, or with `confuse` more often the more it offers, into a reply that is as well formed; it is drawn from the seed, the
 * question, the decision and the attempt, never from the order of calls. The draws of a seed are common to all rates: what
 * goes wrong at 0.1 does so at 0.2, and what goes wrong in writing does so by likelihood: of texts, right ones score 0 and others `simulatedPrior`. Tokens are counted by `word-pieces-4`; nothing counts as cached.
 * @throws its requests: WorkbenchError `usage` for IO and CoT, which have no evidence, `data` for a question it was not given
 */
export function openOracle({ graph, samples, error, confuse = 0, seed }: OracleSettings): LanguageModel {
  const byId = new Map(samples.map((sample) => [sample.task.id, sample]));
  const facts = new Map<string, QuestionFacts>();
  const heads = new Map<string, number>();

  const factsOf = (questionId: string) =>
    remembered(facts, questionId, keptQuestions, () => {
      const sample = byId.get(questionId);
      if (sample) return questionFacts(graph, sample);
      throw new WorkbenchError('data', `expected a question that the oracle was given, got ${questionId}`);
    });

  const replyTo = (decision: Decision, attempt: number) => {
    if (unsimulated.includes(decision.phase)) throw notSimulated(decision.phase);
    const known = factsOf(decision.questionId);
    const name = `oracle/${decision.questionId}/${decision.phase}/${fingerprint(decision)}`;
    const right = rightReply(graph, known, decision, Rng.named(seed, name, attempt));
    const errs = Rng.named(seed, `${name}/error`, attempt);
    const confusion = confuse > 0 ? confusionOf(known, decision) : undefined;
    const rate = confusion ? confusedError(error, confuse, confusion) : error;
    return errs.uniform() < rate ? wrongReply(graph, known, decision, right, errs, confusion) : right;
  };
  const label = `oracle:${error}${confuse > 0 ? `,confuse=${confuse}` : ''}`;

  return {
    id: `${label}/${identity(graph, samples, seed)}`,
    name: label,
    simulated: true,
    constrained: true,
    contextLength: 32_768,
    concurrency: 8,
    countTokens: countWordPieces,
    async complete({ system, head, body, decision, attempt, signal }) {
      throwIfStopped(signal);
      const text = writeReply(decision, replyTo(decision, attempt));
      const before = system + head;
      const headTokens = remembered(heads, before, keptHeads, () => countWordPieces(before));
      return {
        text,
        promptTokens: headTokens + countWordPieces(body),
        cachedTokens: 0,
        completionTokens: countWordPieces(text),
        stop: 'end',
      };
    },
    async scoreTexts({ head, body, signal, ...asked }, texts) {
      throwIfStopped(signal);
      const right = rightTexts(factsOf(asked.decision.questionId), asked, replyTo(asked.decision, 0));
      const promptTokens = [head + body, ...texts].reduce((sum, text) => sum + countWordPieces(text), 0);
      return {
        logProbs: Float64Array.from(right, (one) => (one ? 0 : simulatedPrior)),
        tokens: new Int32Array(texts.length).fill(1),
        usage: { promptTokens, cachedTokens: 0, completionTokens: 0 },
      };
    },
    dispose: () => Promise.resolve(),
  };
}

function notSimulated(agent: string): WorkbenchError {
  return new WorkbenchError('usage', `expected an agent that reads facts, got ${agent}, at --model oracle`, {
    hint: 'IO and CoT answer from a model’s memory, which is not simulated: give them a real model.',
  });
}

/** The value of a key, made on first need; the oldest go when there are more than `limit`. */
function remembered<Value>(map: Map<string, Value>, key: string, limit: number, make: () => Value): Value {
  const known = map.get(key);
  if (known !== undefined) return known;
  const made = make();
  if (map.size >= limit) map.delete(map.keys().next().value!);
  map.set(key, made);
  return made;
}

/** sha256 (hex) of what a decision holds besides its question's words, its task and its examples. */
function fingerprint({ task: _, examples: _examples, question: _question, ...own }: Decision): string {
  return createHash('sha256').update(JSON.stringify(own)).digest('hex');
}

/** sha256 (hex) of everything that replies depend on besides the error rate. */
function identity(graph: Graph, samples: readonly QuestionSample[], seed: number): string {
  const hash = createHash('sha256').update(JSON.stringify([rules, wordPieceTokenizer, seed, graph.hash]));
  for (const sample of samples) hash.update(JSON.stringify(sample));
  return hash.digest('hex');
}
