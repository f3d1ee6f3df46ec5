/** `kgwalk ask` on questions: one question of the user's own. */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import type { QuestionAnswer } from '../../agents/question-agent.js';
import type { QuestionSample, QuestionTask } from '../../datasets/question.js';
import { askedQuestion } from '../../datasets/questions/asked-question.js';
import { noCalls, questionRunner } from '../../evaluation/ask.js';
import type { AgentRunner, Attempt } from '../../evaluation/score.js';
import { openCompletionStore } from '../../src/llm/client/completion-store.js';
import { createClients } from '../../src/llm/client/create-clients.js';
import type { LanguageModel } from '../../src/llm/language-model.js';
import { WorkbenchError } from '../../src/run/errors.js';
import { numberText } from '../../src/run/figures.js';
import { type AnswerFrame, answerSections } from '../answer-frame.js';
import { budgetOf, type AgentFlags, type EvaluationFlags, wholeNumber } from '../flags.js';
import { embeddedChatModel, openRealModel, refuseSimulated, usualChoices } from '../language-model.js';
import { datasetOf } from '../named-runs.js';
import { lazy, type OpenedAsk, type Resolved, type ShownAnswer, type Work } from '../task.js';
import { closeRemote, openQuestionAgent, refuseRemote } from './agents.js';
import { trainsModel } from '../../agents/relation-walker/settings.js';
import { openQuestionGraph, type QuestionGraph } from './data.js';
import { chainText, eventText, originsOf } from './show.js';
import { temporaryFolder } from '../../src/run/files.js';

/** The graph that one is asked about, loaded when it is needed. */
export const askedGraph = ({ trained }: Resolved, flags: EvaluationFlags, work: Work) =>
  lazy(
    async () => {
      const other = trained && trainsModel(trained.run.config) ? flags.dataset : undefined;
      const name = other ?? (trained ? datasetOf(trained.run)! : flags.dataset!);
      return openQuestionGraph(name, flags.holdOut, flags.graph);
    },
    ({ graph }) => closeRemote(graph, work),
  );

/**
 * Asks; answers, the facts behind them and, if wished, what the agent did.
 * @param data of several that are asked, one for all
 */
export function openAskQuestion(
  which: Resolved,
  flags: EvaluationFlags,
  work: Work,
  data = askedGraph(which, flags, work),
): OpenedAsk {
  refuseRemote([which], flags);
  const seedOf = () => wholeNumber(flags.seed ?? '0', '--seed', 0);
  const openIt = async () => {
    // What a run was opened with by `--model` is its encoder's file; an agent's is the language model.
    const encoder = flags.encoder ?? (which.trained ? flags.model : undefined);
    return openQuestionAgent(which, await data.get(), { seed: seedOf(), encoder, flags });
  };
  const agent = lazy(openIt, (one) => one.close());
  const model = lazy(
    () => openAskedModel(which, flags, work),
    (one) => one.dispose(),
  );
  return {
    async ask([text, ...more], of = {}) {
      if (text === undefined || more.length > 0) {
        const got = text === undefined ? 'one of two' : 'more';
        const wanted = `expected a run and a question, or --agent NAME and a question, got ${got}`;
        throw new WorkbenchError('usage', wanted, {
          hint: 'kgwalk ask RUN "QUESTION", or kgwalk ask "QUESTION about [TOPIC]" --agent NAME --dataset NAME',
        });
      }
      const { top: most = '10', trace = false } = { ...flags, ...of };
      const top = wholeNumber(most, '--top', 1);
      budgetOf(flags.budget);
      const graph = await data.get();
      const asked = (await agent.get()).agent;
      const { names, subsets, dataset } = graph;
      const { task } = askedQuestion(text, graph.graph, {
        ...{ names, subset: subsets[0]!, topicsReturn: dataset.manifest.topicsReturn, needsTopic: asked.topicGiven },
      });
      const asker = questionRunner(asked);
      const attempt = await attemptOf(asker, task, flags, seedOf(), model, work.signal);
      const spoken = asked.prompted ? (await model.get()).name : undefined;
      return shown(attempt, task, graph, { top, trace, model: spoken, which });
    },
    async close() {
      await agent.close();
      await model.close();
      await data.close();
    },
  };
}

/** A question about one entity, in brackets. */
export function markedQuestion({ task: { question, topics } }: QuestionSample): { question: string } | undefined {
  const [topic, ...others] = topics;
  if (!topic?.span || others.length > 0) return undefined;
  const [begin, end] = topic.span;
  return { question: `${question.slice(0, begin)}[${question.slice(begin, end)}]${question.slice(end)}` };
}

/** @throws WorkbenchError `usage` for a simulated model */
async function openAskedModel(
  { agent }: Resolved,
  { model: spec, modelSet, choices }: AgentFlags,
  work: Work,
): Promise<LanguageModel> {
  if (spec !== undefined) refuseSimulated(spec, '--model');
  return openRealModel(spec ?? embeddedChatModel(`agent ${agent}`, work), modelSet, choices, work);
}

async function attemptOf(
  asker: AgentRunner<QuestionTask, QuestionAnswer>,
  task: QuestionTask,
  { budget, budgetMode = 'strict', ...flags }: EvaluationFlags,
  seed: number,
  kept: { get(): Promise<LanguageModel> },
  signal: AbortSignal | undefined,
): Promise<Attempt<QuestionAnswer>> {
  let attempt: Attempt<QuestionAnswer> | undefined;
  const take = (_: number, one: Attempt<QuestionAnswer>) => (attempt = one);
  if (!asker.prompted) {
    await asker.ask([task], take, { concurrency: 1, openCalls: noCalls, signal });
    return attempt!;
  }
  const model = await kept.get();
  // One question is not kept: its completions live as long as it does.
  const folder = temporaryFolder('ask');
  const store = openCompletionStore(join(folder, 'completions.jsonl'));
  try {
    const choices = usualChoices(flags);
    const clients = createClients({ model, store, budget: budgetOf(budget), budgetMode, choices, seed, signal });
    await asker.ask([task], take, { concurrency: 1, openCalls: ({ id }) => clients.clientFor(id), signal });
    return attempt!;
  } finally {
    store.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

function shown(
  { answer, failure, totals, calls, trace = [] }: Attempt<QuestionAnswer>,
  task: QuestionTask,
  { graph, dataset }: QuestionGraph,
  { top, trace: traced, model, which }: { top: number; trace: boolean; model: string | undefined; which: Resolved },
): ShownAnswer {
  const nameOf = (entity: number) => graph.entityNames[entity] ?? '?';
  if (failure !== undefined) throw new WorkbenchError('failure', `the agent failed on the question: ${failure}`);
  const { entities, literals, evidence, chain, stop, text, confidence } = answer!;
  const answers = entities.slice(0, top).map(nameOf);
  const said = [...answers, ...literals];
  const topics = task.topics.map(({ name }) => name);
  const origins = originsOf(topics, evidence);
  const byMemory = model === undefined ? undefined : 'the memory of the model: no fact of the graph leads here';
  const along = chain && `along ${chainText(chain, graph)}`;
  const { calls: asked, promptTokens, completionTokens } = totals!;
  const frame: AnswerFrame = {
    ...{ question: task.question, topics, none: 'no answer' },
    ...(traced && { steps: trace.map((event) => `  ${eventText(event, graph)}`) }),
    answers: said.map((answer, i) => ({
      cells: { answer },
      from: origins.get(answer) ?? (i < answers.length ? along : undefined) ?? byMemory,
    })),
    notes: [
      ...(entities.length > top ? [`… and ${entities.length - top} more`] : []),
      ...(confidence === undefined ? [] : [`confidence in these answers together: ${numberText(confidence)} %`]),
      `ended by: ${stop}${model === undefined ? '' : ` · ${asked} calls, ${promptTokens} + ${completionTokens} tokens`}`,
    ],
    over: `${model === undefined ? '' : `model ${model}, `}graph ${graph.name} of ${dataset.manifest.name}`,
  };
  const json = {
    question: task.question,
    ...{ topics, answers, literals },
    ...(chain && { chain: chain.map((relation) => graph.relationNames[relation] ?? '?') }),
    evidence: evidence.slice(0, top),
    ...(text !== undefined && { text }),
    ...{ stop, ...totals },
    ...(traced && { trace, ledger: calls }),
  };
  const walk = evidence.slice(0, top).map(([head, relation, tail]): [string, string, string] => [head, relation, tail]);
  return {
    json,
    sections: answerSections(frame, which),
    answers: said.map((text) => ({ text })),
    ...(walk.length > 0 && { walks: [walk] }),
  };
}
