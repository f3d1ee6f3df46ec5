/** The one way of agents to a language model: every call is fitted, counted, kept to the budget and remembered. */
import { WorkbenchError } from '../../run/errors.js';
import { madeFromTexts } from '../../run/provenance/notes.js';
import { subSeed } from '../../run/seeds.js';
import type { Decision } from '../decision.js';
import { BudgetSpent } from '../decision-client.js';
import type { Decided, DecisionClient } from '../decision-client.js';
import { uncutReply } from '../decisions/fit-to-context.js';
import { readReply } from '../decisions/read-reply.js';
import type { LanguageModel } from '../language-model.js';
import { modelAsker } from './ask-model.js';
import type { AskModel, CallTiming } from './ask-model.js';
import type { CallRecord, CallTotals } from './call-ledger.js';
import { inOrder, totalsOf } from './call-ledger.js';
import { choiceTexts } from './choice-scoring.js';
import type { CompletionStore, ModelCard } from './completion-store.js';
import { fitted, requestOf } from './fitted-request.js';

/** Heads that a resumed run brings back: more than any model holds. */
const primedHeads = 64;

/** Which model, under which budget, and what remembers. */
export interface ClientSettings {
  /** In a replay the one of `replayModel`. */
  model: LanguageModel;
  /** A `readOnly` one makes a replay: what it lacks is an error, and no model is asked. */
  store: CompletionStore;
  /** Calls a question may cost, 0 or more; null: no budget. */
  budget: number | null;
  /**
   * `strict`: the budget is checked before every call, and its last call is kept for `final` decisions; no question ever
   * costs more. `reference`, FiSKE's way: exploration ends when the agent asks for `remaining` at the heads of its loops
   * and finds none, `decide` itself never refuses, so a head with many relations and the answer overrun the budget.
   */
  budgetMode: 'strict' | 'reference';
  /** Of sampling; read where a temperature is above 0. */
  seed: number;
  /** Default 0 for all. */
  temperatureOf?: (decision: Decision) => number;
  /** `logprob`: `choose-one` and plain verdicts by the probability of each choice, where the model can tell. Default `written`. */
  choices?: 'written' | 'logprob';
  onTiming?: (timing: CallTiming) => void;
  signal?: AbortSignal | undefined;
}

/** One question's view of the model. */
export interface QuestionClient {
  client: DecisionClient;
  /** Its calls until now, in order. */
  calls(): CallRecord[];
  totals(): CallTotals;
}

/** Clients of the questions of one evaluation. */
export interface Clients {
  clientFor(questionId: string): QuestionClient;
  /** Brings the model to where the stored calls left it; belongs before the first call of a resumed run. */
  prime(): Promise<void>;
}

/** @throws WorkbenchError `usage` for a budget that is no whole number from 0 */
export function createClients(settings: ClientSettings): Clients {
  const { model, store, budget, onTiming } = settings;
  if (budget !== null && !(Number.isSafeInteger(budget) && budget >= 0)) {
    throw new WorkbenchError('usage', `expected a whole number of calls or none, got ${budget}, at --budget`);
  }
  if (!store.readOnly) store.describeModel(cardOf(model));
  const ask = modelAsker(model, store, onTiming);
  return {
    clientFor: (questionId) => questionClient(questionId, ask, settings),
    async prime() {
      if (!store.readOnly && store.size > 0) await model.prime?.(store.lastHeads(primedHeads));
    },
  };
}

/** Field by field: of a class instance a spread would lose the getters. */
function cardOf({ id, name, simulated, constrained, contextLength, scoreChoices }: LanguageModel): ModelCard {
  return { id, name, simulated, constrained, contextLength, scoresChoices: scoreChoices !== undefined };
}

function questionClient(questionId: string, ask: AskModel, settings: ClientSettings): QuestionClient {
  const { model, store, budget, budgetMode, seed, temperatureOf = () => 0, choices = 'written', signal } = settings;
  const limit = budget ?? Infinity;
  const strict = budgetMode === 'strict';
  const records: CallRecord[] = [];
  let begun = 0;
  let decisions = 0;

  const mayCall = ({ final = false }: Decision) => !strict || limit - begun > (final ? 0 : 1);

  async function decide<D extends Decision>(decision: D): Promise<Decided<D>> {
    if (!mayCall(decision)) throw new BudgetSpent(limit);
    const seq = decisions++;
    const questions = decision.examples.map(({ question }) => question);
    madeFromTexts('few-shot example', decision.phase, questions);
    const { decision: shown, dropped: cut } = fitted(decision, model, store);
    const temperature = temperatureOf(decision);
    const texts = choices === 'logprob' && model.scoreChoices ? choiceTexts(shown) : undefined;
    let text = '';
    for (let attempt = 0; attempt < 2 && mayCall(decision); attempt++) {
      // Counted before anything is awaited: decisions under way at once must not share the last call.
      begun++;
      const { phase } = decision;
      const drawn = temperature > 0 ? subSeed(seed, `call/${questionId}/${phase}`, seq, attempt) >>> 0 : 0;
      const request = requestOf(shown, model, { temperature, seed: drawn, attempt, signal });
      const { key, completion } = await ask(request, texts);
      text = completion.text;
      const read = readReply(shown, text, {
        constrained: completion.constrained ?? (model.constrained || texts !== undefined),
      });
      const stage = !read ? 'unparsed' : attempt > 0 ? 'asked-again' : read.stage;
      const { promptTokens, cachedTokens, completionTokens } = completion;
      records.push({ phase, seq, attempt, promptTokens, cachedTokens, completionTokens, stage, temperature, key, cut });
      if (read) return { reply: uncutReply(decision, read.reply), stage, text };
    }
    return { stage: 'unparsed', text };
  }

  return {
    client: {
      decide,
      get remaining() {
        return Math.max(0, limit - begun - (strict ? 1 : 0));
      },
    },
    calls: () => inOrder(records),
    totals: () => totalsOf(records),
  };
}
