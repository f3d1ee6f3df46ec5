/** Agents that walk dialogues, opened: untrained ones by name, trained ones from the folder of their run. */
import type { Agent, Answer } from '../../agents/agent.js';
import { type DialogueAgentResources, dialogueAgents, dialogueMethods } from '../../agents/dialogue-agents.js';
import { arkPrompts } from '../../agents/prompted/ark/ark-agent.js';
import { turnSample } from '../../agents/prompted/turns/turn-question.js';
import type { WalkSample } from '../../datasets/walk-sample.js';
import type { WalkGraph } from '../../envs/dialogue-walk/walk-graph.js';
import { batchAsker, type BatchOptions } from '../../evaluation/ask.js';
import { openOracle, oracleRates } from '../../evaluation/oracle/open-oracle.js';
import type { QuestionClient } from '../../src/llm/client/create-clients.js';
import type { LanguageModel } from '../../src/llm/language-model.js';
import { WorkbenchError } from '../../src/run/errors.js';
import { sha256File } from '../../src/run/files.js';
import { executorOf } from '../../src/nn/open-executor.js';
import { encoderModelOf, missingModel } from '../../agents/trained-run.js';
import { pretrainEmbeddings } from '../../agents/embeddings/transe/pretrain.js';
import { transeSettings } from '../../agents/embeddings/transe/settings.js';
import { dialogueTriples } from '../../agents/embeddings/transe/triples.js';
import { type AgentFlags, type EvaluationFlags, threadsOf } from '../flags.js';
import { membersOf, type OpenedAgent, type OpenOptions, type Resolved, type Trained } from '../task.js';
import { noSuchRun, weightsOf } from '../named-runs.js';
import { findRun } from '../../src/run/run-folder.js';
import { agentOptions, callsOf, openByName, refuseUnread, taskClient } from '../open-agent.js';
import { arkCountWarning, keepingArkBeam, refuseArkCount, type DialogueRow } from './row.js';
import { type DialogueEvaluationData } from './data.js';
import { oracleLabel } from '../../agents/dialogue-walker/training-data.js';
import { dialogueScorer } from './score.js';
import { leakWarning } from '../../agents/dialogue-walker/training-data.js';

const ark: readonly string[] = arkPrompts;
/** True where an agent calls a model. */
const asks = (agent: string | undefined): agent is string => agent !== undefined && dialogueAgents.asksModel(agent);

/** The budget of an agent: its own, or that of the options. */
function budgetOf(agent: string, flags: EvaluationFlags) {
  const { calls: budget } = dialogueAgents.entry(agent);
  return budget === undefined ? callsOf(flags) : ({ budget, budgetMode: 'strict' } as const);
}

/** The simulated model suits agents of questions, whose decisions it can take. */
export const suitsModel = (agent: string, { model = '' }: Pick<AgentFlags, 'model'>): boolean =>
  oracleRates(model) === undefined || !ark.includes(agent);

/** The simulated model of `oracle:0.1`; undefined where `spec` names a real one. */
export async function openSimulated(
  spec: string,
  { graph, samples }: DialogueEvaluationData,
): Promise<LanguageModel | undefined> {
  const rates = oracleRates(spec);
  return rates && openOracle({ graph, samples: samples.map((sample) => turnSample(graph, sample)), ...rates, seed: 0 });
}

/** @throws WorkbenchError `usage` for options that none of the agents reads */
export function refuseIdle(resolved: readonly Resolved[], flags: EvaluationFlags): void {
  const { model, threads, count } = flags;
  const naming = resolved.find(({ agent }) => asks(agent));
  if (model !== undefined && !naming) {
    throw new WorkbenchError('usage', `expected no language model, got ${model}, at --model: no agent named asks one`, {
      hint: `On dialogues these do: ${dialogueAgents.names().filter(asks).join(', ')}. Text vectors come from --encoder.`,
    });
  }
  if (resolved.some(({ agent }) => agent !== undefined && !suitsModel(agent, flags))) {
    throw new WorkbenchError('usage', `expected a language model, got ${model}, at --model`, {
      hint: `${ark.join(', ')} take FILE.gguf or http://HOST:PORT/v1#NAME; they are not simulated.`,
    });
  }
  if (!resolved.some(({ agent }) => asks(agent) && dialogueAgents.spends(agent))) {
    refuseUnread(resolved, flags, { budget: 'an agent of several calls', budgetMode: 'an agent of several calls' });
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
    (read, { encoder, hashes, closes }): DialogueAgentResources => ({
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
      async walker(name) {
        const found = findRun(name);
        if (!found) throw noSuchRun(name);
        const { run, checkpoint = 'best' } = found;
        const modelPath = missingModel(encoderModelOf(run)) === undefined ? undefined : place;
        const loaded = await dialogueMethods.load([{ run, checkpoint }], {
          ...{ beamWidth: settings.beamWidth, twoHopBonus: settings.twoHopBonus, modelPath },
        });
        closes.push(() => loaded.close());
        if (loaded.graph.hash !== graph.hash) {
          const got = `one of graph ${loaded.graph.name}`;
          throw new WorkbenchError('usage', `expected a run over graph ${graph.name}, got ${got}, at ${name}`);
        }
        hashes.walker = await weightsOf({ run, checkpoint });
        return loaded.agent;
      },
      taskClients: () => Promise.resolve((id: string) => taskClient(openCalls!({ id }))),
    }),
    place,
  );
  return {
    ...opened,
    agent: made,
    about: { ...about, ...(asks(which.agent) && budgetOf(which.agent, flags)) },
    ...(asks(which.agent) && { useCalls: (open: NonNullable<typeof openCalls>) => (openCalls = open) }),
  };
}
