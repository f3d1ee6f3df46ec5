/** Agents that walk dialogues, opened: untrained ones by name, trained ones from the folder of their run. */
import type { Agent, Answer } from '../../agents/agent.js';
import { type DialogueAgentResources, dialogueAgents, dialogueMethods } from '../../agents/dialogue-agents.js';
import { arkPrompts, type TaskClient } from '../../agents/prompted/ark/ark-agent.js';
import type { WalkSample } from '../../datasets/walk-sample.js';
import type { WalkGraph } from '../../envs/dialogue-walk/walk-graph.js';
import { batchAsker, type BatchOptions } from '../../evaluation/ask.js';
import type { QuestionClient } from '../../src/llm/client/create-clients.js';
import { WorkbenchError } from '../../src/run/errors.js';
import { sha256File } from '../../src/run/files.js';
import { executorOf } from '../../src/nn/open-executor.js';
import { pretrainEmbeddings } from '../../agents/embeddings/transe/pretrain.js';
import { transeSettings } from '../../agents/embeddings/transe/settings.js';
import { dialogueTriples } from '../../agents/embeddings/transe/triples.js';
import { type EvaluationFlags, threadsOf } from '../flags.js';
import { membersOf, type OpenedAgent, type OpenOptions, type Resolved, type Trained } from '../task.js';
import { weightsOf } from '../named-runs.js';
import { agentOptions, openByName } from '../open-agent.js';
import { arkCountWarning, keepingArkBeam, refuseArkCount, type DialogueRow } from './row.js';
import { type DialogueEvaluationData } from './data.js';
import { oracleLabel } from '../../agents/dialogue-walker/training-data.js';
import { dialogueScorer } from './score.js';
import { leakWarning } from '../../agents/dialogue-walker/training-data.js';

/** Calls a sample may cost an agent that walks by prompt: one, and one more where its reply could not be read. */
const promptBudget = { budget: 2, budgetMode: 'strict' } as const;

const asking: readonly string[] = arkPrompts;

/** @throws WorkbenchError `usage` for options that none of the agents reads */
export function refuseIdle(resolved: readonly Resolved[], { model, threads, count }: EvaluationFlags): void {
  const naming = resolved.find(({ agent }) => agent !== undefined && asking.includes(agent));
  if (model !== undefined && !naming) {
    throw new WorkbenchError('usage', `expected no language model, got ${model}, at --model: no agent named asks one`, {
      hint: `On dialogues these do: ${asking.join(', ')}. Text vectors come from --encoder.`,
    });
  }
  if (model?.startsWith('oracle:')) {
    throw new WorkbenchError('usage', `expected a language model, got ${model}, at --model`, {
      hint: 'Prompts on dialogues take FILE.gguf or http://HOST:PORT/v1#NAME; they are not simulated.',
    });
  }
  if (count === 'ark' && naming) refuseArkCount(naming.name);
  if (threadsOf(threads) > 1 && !resolved.some(({ trained }) => trained)) {
    throw new WorkbenchError('usage', `expected a run with --threads ${threads}, got agent ${resolved[0]!.name}`, {
      hint: 'Untrained agents answer on one thread: leave --threads out.',
    });
  }
}

/** The agent with its way of being asked and scored. */
export async function openScoredAgent(
  which: Resolved,
  data: DialogueEvaluationData,
  options: OpenOptions,
): Promise<OpenedAgent<WalkSample, Answer, DialogueRow>> {
  const { graph, settings, withArk, horizon, samples, seenTargets } = data;
  const { work } = options;
  const {
    agent: opener,
    walks = { graph },
    useCalls,
    ...opened
  } = which.trained ? await openWalker(which.trained, data, options) : await openUntrained(which, data, options);
  // All agents read the same tasks.
  const agent = data.about.oracle === undefined ? opener : { ...opener, note: noteOf(opener) };
  const golds = new Map(samples.map(({ task, gold }) => [task.id, gold.path]));
  if (withArk) work.note(`warning: ${arkCountWarning}`);
  const warning = leakWarning(walks);
  if (warning !== undefined) work.note(`${agent.name}: ${warning}`);
  return {
    ...opened,
    asker: batchAsker(withArk ? keepingArkBeam(agent) : agent, {
      batchSize: settings.batchSize,
      canAsk: ({ start }) => graph.degree(start) > 0,
      goldOf: ({ id }) => golds.get(id)!,
      useCalls,
    }),
    scorer: dialogueScorer({
      ...{ graph, walks, withArk, horizon, samples, seenTargets },
      ...{ ks: settings.ks, beamWidth: settings.beamWidth },
    }),
  };
}

const noteOf = ({ note }: Agent) => (note === undefined ? oracleLabel : `${oracleLabel}; ${note}`);

type Opened = Omit<OpenedAgent<WalkSample, Answer, DialogueRow>, 'asker' | 'scorer'> & {
  agent: Agent;
  /** The edges that it may walk, where its run says; absent: all. */
  walks?: WalkGraph;
  useCalls?: BatchOptions['useCalls'];
};

async function openWalker(
  trained: Trained,
  { settings: { beamWidth, twoHopBonus }, withArk }: DialogueEvaluationData,
  { flags: { backend, threads }, encoder: modelPath, work }: OpenOptions,
): Promise<Opened> {
  const { run, others } = trained;
  const { agent, walks, encoderIds, close } = await dialogueMethods.load(membersOf(trained), {
    ...{ beamWidth, twoHopBonus, arkBeam: withArk, modelPath, threads: threadsOf(threads), signal: work.signal },
    backend: backend === undefined ? undefined : executorOf(backend),
  });
  return {
    ...{ agent, walks, encoder: modelPath, close },
    about: others ? {} : { seed: run.config.seed as number },
    hashes: { encoder: encoderIds.join('+'), checkpoint: await weightsOf(trained) },
  };
}

async function openUntrained(
  which: Resolved,
  { graph, train, dataset, settings, withArk }: DialogueEvaluationData,
  { flags, runs, encoder: place, work }: OpenOptions,
): Promise<Opened> {
  const run = runs.at(-1);
  let openCalls: ((task: { readonly id: string }) => QuestionClient) | undefined;
  const options = agentOptions(flags, run, {
    transe: { ...transeSettings.parse(run?.config.transe ?? {}), enabled: true },
    seed: (run?.config.seed as number | undefined) ?? 0,
  });
  const { made, about, ...opened } = await openByName(
    dialogueAgents,
    which,
    options,
    (read, { encoder, hashes }): DialogueAgentResources => ({
      ...{ graph, train, encoder },
      ranking: { ...settings, arkBeam: withArk },
      // The kept table of these settings, such as that of the run they are compared with, else a new one, which takes minutes.
      async embedding() {
        const { transe: settings, seed } = read;
        const { progress, signal } = work;
        const exclude = dialogueTriples(dataset, graph);
        const { table, file } = await pretrainEmbeddings(graph, { settings, seed, exclude, progress, signal });
        hashes.table = await sha256File(file);
        return table;
      },
      get textLimits() {
        return read.encoder;
      },
      taskClients: () => Promise.resolve((id: string) => taskClient(openCalls!({ id }))),
    }),
    place,
  );
  return {
    ...opened,
    agent: made,
    about: { ...about, ...(asking.includes(which.agent!) && promptBudget) },
    ...(asking.includes(which.agent!) && { useCalls: (open: NonNullable<typeof openCalls>) => (openCalls = open) }),
  };
}

const taskClient = ({ client, totals }: QuestionClient): TaskClient => ({
  client,
  cost() {
    const { calls, promptTokens, cachedTokens, completionTokens } = totals();
    return { calls, promptTokens, cachedTokens, completionTokens };
  },
});
