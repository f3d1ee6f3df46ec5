/** `kgwalk ask` on questions: one question of the user's own. */
import type { QuestionTask } from '../../datasets/question.js';
import type { QuestionAttempt } from '../../evaluation/questions/ask-questions.js';
import type { LanguageModel } from '../../src/llm/language-model.js';
import { WorkbenchError } from '../../src/run/errors.js';
import { printable } from '../../src/run/printable.js';
import { interruptSignal } from '../interrupt.js';
import { datasetOf, type Named } from '../kind-of-work.js';
import { printJson, printLine } from '../output.js';
import { type OpenedQuestionAgent, openQuestionAgent, resolveAgents } from './question-agents.js';
import { budgetOf, openQuestionGraph, type QuestionFlags, type QuestionGraph, wholeNumber } from './question-inputs.js';
import { eventText } from '../../evaluation/questions/event-text.js';

/** The options of `kgwalk ask` on questions. */
export interface AskQuestionFlags extends QuestionFlags {
  top: string;
  trace?: boolean;
}

/** Asks, and prints answers, the facts behind them and, if wished, what the agent did. */
export async function askQuestion(named: Named, text: string, flags: AskQuestionFlags): Promise<void> {
  const top = wholeNumber(flags.top, '--top', 1);
  budgetOf(flags.budget);
  const [which] = await resolveAgents([named], flags);
  const graph = await openQuestionGraph(which!.run ? datasetOf(which!.run.run)! : flags.dataset!, flags.holdOut);
  const task = await taskOf(text, graph);
  // What a run was opened with by `--model` is its encoder's file; an agent's is the language model.
  const encoder = flags.encoder ?? (which!.run ? flags.model : undefined);
  const seed = wholeNumber(flags.seed ?? '0', '--seed', 0);
  const opened = await openQuestionAgent(which!, graph, { seed, encoder });
  try {
    const attempt = await attemptOf(opened, task, flags, seed);
    print(attempt, task, graph, { ...flags, top });
  } finally {
    await opened.close();
  }
}

async function attemptOf(
  { agent }: OpenedQuestionAgent,
  task: QuestionTask,
  flags: AskQuestionFlags,
  seed: number,
): Promise<QuestionAttempt> {
  const { askQuestions } = await import('../../evaluation/questions/ask-questions.js');
  const { noCalls } = await import('../../evaluation/questions/evaluate-questions.js');
  const told = agent.topicGiven ? task : { ...task, topics: [] };
  const signal = interruptSignal();
  if (!agent.prompted) return (await askQuestions(agent, [told], { concurrency: 1, openCalls: noCalls, signal }))[0]!;
  const model = await modelOf(agent.name, flags);
  const { createClients } = await import('../../src/llm/client/create-clients.js');
  const { openCompletionStore } = await import('../../src/llm/client/completion-store.js');
  const { mkdtempSync, rmSync } = await import('node:fs');
  const { tmpdir } = await import('node:os');
  const { join } = await import('node:path');
  // One question is not kept: its completions live as long as it does.
  const folder = mkdtempSync(join(tmpdir(), 'kgwalk-ask-'));
  const store = openCompletionStore(join(folder, 'completions.jsonl'));
  try {
    const { budget: text, budgetMode = 'strict', choices = 'written' } = flags;
    const clients = createClients({ model, store, budget: budgetOf(text), budgetMode, choices, seed, signal });
    const openCalls = ({ id }: QuestionTask) => clients.clientFor(id);
    return (await askQuestions(agent, [told], { concurrency: 1, openCalls, signal }))[0]!;
  } finally {
    store.close();
    rmSync(folder, { recursive: true, force: true });
    await model.dispose();
  }
}

async function modelOf(agent: string, { model: spec, modelSet }: AskQuestionFlags): Promise<LanguageModel> {
  const { embeddedChatModel, openRealModel } = await import('../open-real-model.js');
  if (spec === undefined) return openRealModel(embeddedChatModel(`agent ${agent}`), modelSet);
  const { oracleError } = await import('../../evaluation/oracle/open-oracle.js');
  if (oracleError(spec) !== undefined) {
    throw new WorkbenchError('usage', `expected a real model, got ${spec}, at --model`, {
      hint: 'A simulated model knows the answers of data sets, not of questions of your own.',
    });
  }
  return openRealModel(spec, modelSet);
}

/** The question with its topics: what stands in [brackets]. @throws WorkbenchError `usage` for a name that the graph lacks */
async function taskOf(bracketed: string, { dataset, graph, names, subsets }: QuestionGraph): Promise<QuestionTask> {
  const topics: QuestionTask['topics'][number][] = [];
  let question = '';
  let end = 0;
  for (const match of bracketed.matchAll(/\[([^\]]+)\]/g)) {
    question += bracketed.slice(end, match.index);
    const mention = match[1]!;
    const exact = graph.entityId(mention);
    const entities = exact >= 0 ? [exact] : names.lookup(mention);
    if (entities.length === 0) throw await unknownEntity(mention, graph.entityNames);
    const span = [question.length, question.length + mention.length] as const;
    // Homonyms are topics all, but their mention is masked once.
    entities.forEach((entity, i) =>
      topics.push({ name: graph.entityNames[entity]!, entity, ...(i === 0 && { span }) }),
    );
    question += mention;
    end = match.index + match[0].length;
  }
  question += bracketed.slice(end);
  const { topicsReturn } = dataset.manifest;
  return { id: 'ask', subset: subsets[0]!, question, topics, ...(topicsReturn && { topicsReturn }), form: 'entities' };
}

async function unknownEntity(name: string, known: readonly string[]): Promise<WorkbenchError> {
  const { nearestName } = await import('../../src/run/printable.js');
  const near = nearestName(name, known);
  return new WorkbenchError('usage', `expected an entity of the graph in brackets, got "${printable(name, 80)}"`, {
    ...(near !== undefined && { hint: `Did you mean [${near}]?` }),
  });
}

function print(
  { answer, crash, totals, calls, trace }: QuestionAttempt,
  task: QuestionTask,
  { graph }: QuestionGraph,
  { top, json, trace: traced }: { top: number; json?: boolean; trace?: boolean },
): void {
  const nameOf = (entity: number) => graph.entityNames[entity] ?? '?';
  if (crash !== undefined) throw new WorkbenchError('failure', `the agent failed on the question: ${crash}`);
  const { entities, literals, evidence, chain, stop, text } = answer!;
  if (json) {
    return printJson({
      question: task.question,
      topics: task.topics.map(({ name }) => name),
      answers: entities.slice(0, top).map(nameOf),
      literals,
      ...(chain && { chain: chain.map((relation) => graph.relationNames[relation] ?? '?') }),
      evidence: evidence.slice(0, top),
      ...(text !== undefined && { text }),
      stop,
      ...totals,
      ...(traced && { trace, ledger: calls }),
    });
  }
  if (traced) for (const event of trace) printLine(`  ${printable(eventText(event, graph))}`);
  const said = [...entities.slice(0, top).map(nameOf), ...literals];
  if (said.length === 0) printLine(`no answer (${stop})`);
  for (const name of said) printLine(printable(name));
  if (entities.length > top) printLine(`… and ${entities.length - top} more`);
  if (evidence.length > 0) printLine();
  for (const [head, relation, tail] of evidence.slice(0, top)) printLine(printable(`${head} —${relation}→ ${tail}`));
  printLine(`${stop} · ${totals.calls} calls, ${totals.promptTokens} + ${totals.completionTokens} tokens`);
}
