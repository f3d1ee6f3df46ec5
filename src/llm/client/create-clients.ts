/** Clients of language models for agents: every call is fitted to the context, counted, budgeted and stored. */
import { WorkbenchError } from '../../run/errors.js';
import { madeFromTexts } from '../../run/provenance.js';
import { subSeed } from '../../run/seeds.js';
import { BudgetSpent, type Decided, type Decision, type DecisionClient, type ParseStage } from '../decision.js';
import { type Dropped, type Fitted, fitToContext, uncutReply, withoutDropped } from '../decisions/fit-to-context.js';
import { byLikelihood, isChoice, plainPrompt, plainSize, textQueries } from '../decisions/likelihood/by-likelihood.js';
import { readReply, maxReplyTokens, replyFormat } from '../decisions/reply-forms.js';
import { reAskReminder, renderPrompt } from '../decisions/render-prompt.js';
import {
  type Completion,
  type CompletionRequest,
  type LanguageModel,
  sumUsage,
  type Usage,
} from '../language-model.js';
import { type AskModel, type CallTiming, failureOf, modelAsker, replayError } from './ask-model.js';
import { type CompletionStore, type ModelCard, promptKey } from './completion-store.js';
import { type ScoreTexts, textScorer } from './score-texts.js';

/** Prompt heads restored by a resumed run: more than any model caches. */
const primedHeads = 64;

/** Model, budget and store. */
export interface ClientSettings {
  /** In a replay the one of `replayModel`. */
  model: LanguageModel;
  /** A `readOnly` store makes a replay: a missing completion is an error, and no model is called. */
  store: CompletionStore;
  /** Calls a question may cost, 0 or more; null: no budget. */
  budget: number | null;
  /**
   * `strict`: no question costs more, and its last call is kept for `final` decisions. `reference`, FiSKE’s way:
   * exploration ends when `remaining` at a loop’s head is 0; many relations and the answer overrun the budget.
   */
  budgetMode: 'strict' | 'reference';
  /** Sampling seed; used when the model's temperature is above 0. */
  seed: number;
  /** `likelihood`: choices go by the log-probability of the candidates’ words, which takes `scoreTexts`. Default `written`. */
  choices?: 'written' | 'likelihood';
  onTiming?: (timing: CallTiming) => void;
  signal?: AbortSignal | undefined;
}

/** One question's view of the model. */
export interface QuestionClient {
  client: DecisionClient;
  calls(): CallRecord[];
  totals(): CallTotals;
}

/** Clients of the questions of one evaluation. */
export interface Clients {
  clientFor(questionId: string): QuestionClient;
  /** Brings the model to where the stored calls left it; belongs before the first call of a resumed run. */
  prime(): Promise<void>;
}

/** @throws WorkbenchError `usage` for a budget that is no whole number from 0, or choices by likelihood of a model that cannot score texts */
export function createClients(settings: ClientSettings): Clients {
  const { model, store, budget, choices, onTiming } = settings;
  if (budget !== null && !(Number.isSafeInteger(budget) && budget >= 0)) {
    throw new WorkbenchError('usage', `expected a whole number of calls or none, got ${budget}, at --budget`);
  }
  if (choices === 'likelihood' && !model.scoreTexts) {
    const message = `expected a model that scores texts, got ${model.name}, at --choices likelihood`;
    throw new WorkbenchError('usage', message, {
      hint: 'Use --choices written, a local model, or a server that returns log-probabilities of prompts, such as vLLM.',
    });
  }
  if (!store.readOnly) store.describeModel(cardOf(model, choices));
  const asks = { ask: modelAsker(model, store, onTiming), score: textScorer(model, store, onTiming) };
  return {
    clientFor: (questionId) => questionClient(questionId, asks, settings),
    async prime() {
      if (!store.readOnly && store.size > 0) await model.prime?.(store.lastHeads(primedHeads));
    },
  };
}

/** Field by field: of a class instance a spread would lose the getters. */
function cardOf(
  { id, name, simulated, constrained, contextLength, maxTokens, temperature, repeats, scoreTexts }: LanguageModel,
  choices: ClientSettings['choices'],
): ModelCard {
  const scoresTexts = choices === 'likelihood' ? scoreTexts !== undefined : undefined;
  const limits = { contextLength, maxTokens, temperature, repeats };
  return { ...{ id, name, simulated, constrained }, ...limits, scoresChoices: false, scoresTexts };
}

function questionClient(
  questionId: string,
  { ask, score }: { ask: AskModel; score: ScoreTexts },
  { model, store, budget, budgetMode, seed, choices = 'written', signal }: ClientSettings,
): QuestionClient {
  const limit = budget ?? Infinity;
  const strict = budgetMode === 'strict';
  const records: CallRecord[] = [];
  let begun = 0;
  let decisions = 0;

  const mayCall = ({ final = false }: Decision) => !strict || limit - begun > (final ? 0 : 1);

  async function decide<D extends Decision>(decision: D): Promise<Decided<D>> {
    if (!mayCall(decision)) throw new BudgetSpent(limit);
    const seq = decisions++;
    const { phase } = decision;
    const questions = decision.examples.map(({ question }) => question);
    madeFromTexts('few-shot example', phase, questions);
    const chooses = choices === 'likelihood' && isChoice(decision);
    const { decision: shown, dropped: cut } = fitted(decision, model, store, chooses);
    if (chooses) return scored(decision, shown, seq, cut);
    const { temperature = 0, repeats = 1 } = model;
    let text = '';
    for (let attempt = 0; attempt < 2 && mayCall(decision); attempt++) {
      // Counted before anything is awaited: decisions under way at once must not share the last call.
      begun++;
      const drawn =
        temperature > 0 || repeats > 1 ? subSeed(seed, `call/${questionId}/${phase}`, seq, attempt) >>> 0 : 0;
      const request = requestOf(shown, model, { temperature, seed: drawn, attempt, signal });
      const { key, completion } = await ask(request);
      text = completion.text;
      const constrained = completion.constrained ?? model.constrained;
      // A cut reply may be half a thought: what can be read of it is not what the model would have said.
      const read = completion.stop === 'length' ? undefined : readReply(shown, text, { constrained });
      const stage = !read ? 'unparsed' : attempt > 0 ? 'asked-again' : read.stage;
      const { promptTokens, cachedTokens, completionTokens } = completion;
      const usage = { promptTokens, cachedTokens, completionTokens };
      records.push({ phase, seq, attempt, ...usage, stage, temperature, key, cut, remarks: remarksOf(completion) });
      if (read) return { reply: uncutReply(decision, read.reply), stage, text };
    }
    return { stage: 'unparsed', text };
  }

  /** One call however many lists are scored; none where nothing is offered. */
  async function scored<D extends Decision>(whole: D, shown: D, seq: number, cut: Dropped): Promise<Decided<D>> {
    const { phase } = whole;
    const usages: Usage[] = [];
    let first: string | undefined;
    if (textQueries(shown)!.length > 0) begun++;
    const { reply, confidence, text } = await byLikelihood(shown, async (query) => {
      const { key, above, usage } = await score(query, shown, signal);
      first ??= key;
      usages.push(usage);
      return above;
    });
    const stage = reply ? 'constrained' : 'unparsed';
    if (first !== undefined) {
      records.push({ phase, seq, attempt: 0, ...sumUsage(usages), stage, temperature: 0, key: first, cut });
    }
    return reply ? { reply: uncutReply(whole, reply), stage, text, confidence } : { stage, text };
  }

  return {
    client: {
      decide,
      get remaining() {
        return Math.max(0, limit - begun - (strict ? 1 : 0));
      },
      byLikelihood: choices === 'likelihood',
    },
    // In the order of decisions: those under way at once may end in any.
    calls: () => records.toSorted((a, b) => a.seq - b.seq || a.attempt - b.attempt),
    totals: () => totalsOf(records),
  };
}

/** One request to a model; the retry after an unreadable reply is another. */
export interface CallRecord extends Usage {
  phase: string;
  seq: number;
  attempt: number;
  /** Parse stage: `asked-again` for a readable retry, `unparsed` for any unreadable reply. */
  stage: ParseStage;
  temperature: number;
  key: string;
  cut: Dropped;
  /** See `remarksOf`. */
  remarks?: readonly string[] | undefined;
}

/** Remarks on a reply: `cut` where it reached its limit, then those of the model; undefined for none. */
function remarksOf({ stop, remarks }: Completion): readonly string[] | undefined {
  return stop === 'length' ? ['cut', ...(remarks ?? [])] : remarks;
}

/** Sums over calls. */
export interface CallTotals extends Usage {
  calls: number;
  /** Replies by `remarksOf`; absent for none. */
  remarks?: Record<string, number> | undefined;
  phases: Record<string, { calls: number; stages: Record<string, number> }>;
}

function totalsOf(calls: readonly CallRecord[]): CallTotals {
  const phases: CallTotals['phases'] = {};
  let remarks: CallTotals['remarks'];
  for (const { phase, stage, remarks: own = [] } of calls) {
    for (const remark of own) (remarks ??= {})[remark] = (remarks[remark] ?? 0) + 1;
    const { stages } = (phases[phase] ??= { calls: 0, stages: {} });
    phases[phase].calls++;
    stages[stage] = (stages[stage] ?? 0) + 1;
  }
  return { calls: calls.length, ...sumUsage(calls), remarks, phases };
}

/** Tokens that a chat template puts around a prompt, at most. */
const templateTokens = 64;

const nothingDropped: Dropped = { history: 0, examples: 0, evidence: 0, candidates: 0 };

/**
 * The decision with as much as the context holds. A replay, which has no tokenizer, cuts what was cut then.
 * @throws WorkbenchError `data` where not even the question fits; a replay as the evaluation did
 */
function fitted<D extends Decision>(
  decision: D,
  model: LanguageModel,
  store: CompletionStore,
  plain: boolean,
): Fitted<D> {
  const key = () => promptKey(model.id, plain ? plainPrompt(decision) : renderPrompt(decision));
  if (store.readOnly) {
    const whole = key();
    const failure = store.failure(whole);
    if (failure) throw replayError(decision, failure);
    const dropped = store.cut(whole);
    if (!dropped) return { decision, dropped: nothingDropped };
    return { decision: withoutDropped(decision, dropped), dropped };
  }
  const apart = plain ? 0 : replyTokens(decision, model) + model.countTokens(reAskReminder(decision));
  const countTokens = (text: string) => model.countTokens(text);
  const maxPromptTokens = model.contextLength - apart - templateTokens;
  try {
    const sizeOf = plain ? (one: D) => plainSize(one, countTokens) : undefined;
    const fit = fitToContext(decision, { maxPromptTokens, countTokens, sizeOf });
    if (fit.decision !== decision && !store.cut(key())) store.addCut(key(), fit.dropped);
    return fit;
  } catch (error) {
    store.addFailure(key(), failureOf(error));
    throw error;
  }
}

/** Attempt 1 reminds of the form below a body that is otherwise the same. */
function requestOf(
  decision: Decision,
  model: LanguageModel,
  call: Pick<CompletionRequest, 'temperature' | 'seed' | 'attempt' | 'signal'>,
): CompletionRequest {
  const { body, ...shared } = renderPrompt(decision);
  return {
    ...shared,
    body: call.attempt === 0 ? body : `${body}\n${reAskReminder(decision)}\nReply:`,
    format: replyFormat(decision),
    maxTokens: replyTokens(decision, model),
    ...call,
    decision,
  };
}

/** A reply may take half of a context at most. */
function replyTokens(decision: Decision, { contextLength, maxTokens = 0 }: LanguageModel): number {
  return Math.min(Math.max(maxReplyTokens(decision), maxTokens), Math.floor(contextLength / 2));
}
