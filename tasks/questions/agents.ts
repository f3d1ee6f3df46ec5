/** Agents that answer questions, opened: by name with switches, or from the folder of their run. */
import {
  noAnswer,
  type QuestionAgent,
  type QuestionAgentResources,
  type QuestionAnswer,
} from '../../agents/question-agent.js';
import { questionAgents, questionMethods } from '../../agents/question-agents.js';
import { loadRelationRanker } from '../../agents/relation-walker/agent.js';
import { encoderModelOf, missingModel } from '../../agents/trained-run.js';
import { resolveCheckpoint } from '../../checkpoints/store.js';
import type { QuestionSample } from '../../datasets/question.js';
import { questionRunner } from '../../evaluation/ask.js';
import { openOracle, oracleRates } from '../../evaluation/oracle/open-oracle.js';
import type { Graph } from '../../src/kg/graph.js';
import type { LanguageModel } from '../../src/llm/language-model.js';
import { WorkbenchError } from '../../src/run/errors.js';
import { sha256File } from '../../src/run/files.js';
import { RemoteGraph } from '../../src/kg/sparql/remote-graph.js';
import { parseSparqlSource } from '../../src/kg/sparql/source.js';
import { executorOf } from '../../src/nn/open-executor.js';
import { type AgentFlags, type DataFlags, type EvaluationFlags, wholeNumber } from '../flags.js';
import { noSuchRun, weightsOf } from '../named-runs.js';
import { findRun } from '../../src/run/run-folder.js';
import { agentOptions, openByName, refuseUnread } from '../open-agent.js';
import { membersOf, type OpenedAgent, type OpenOptions, type Resolved, type Trained, type Work } from '../task.js';
import type { QuestionData, QuestionGraph } from './data.js';
import type { QuestionRow } from './row.js';
import { questionScorer } from './score.js';

/**
 * Hashes of a trained one `checkpoint`: sha256 of its weights; of one that reads `encoder`: what its vectors depend on; of one that
 * a trained walker helps `walker`: sha256 of that one's weights.
 */
type OpenedQuestionAgent = Omit<Opened, 'asker' | 'scorer'> &
  Required<Pick<Opened, 'hashes' | 'close'>> & { agent: QuestionAgent };
type Opened = OpenedAgent<QuestionSample, QuestionAnswer, QuestionRow>;

/** @throws WorkbenchError `usage` for options that none of the agents reads, and for switches of a pre-filter that there is not */
export function refuseIdle(resolved: readonly Resolved[], flags: EvaluationFlags): void {
  for (const { name, agent, switches } of resolved) {
    // Others have switches of these names for something else.
    if (agent === undefined || !Object.hasOwn(questionAgents.settings(agent, {}), 'prefilter')) continue;
    const idle = ['keep', 'mass'].filter((key) => switches.prefilter === undefined && switches[key] !== undefined);
    if (idle.length === 0) continue;
    throw new WorkbenchError('usage', `expected a pre-filter with ${idle.join(', ')}, got none, at ${name}`, {
      hint: 'Such as prefilter=bm25,keep=2: without a pre-filter nothing is left out.',
    });
  }
  refuseRemote(resolved, flags);
  if (resolved.some(({ trained }) => trained)) return;
  refuseUnread(resolved, flags, { beamWidth: 'a run', backend: 'a run' });
}

/**
 * Said before anything is loaded: agents that read edges at once cannot wait for an endpoint.
 * @throws WorkbenchError `usage` for a graph that is none of an endpoint, or agents that cannot read one
 */
export function refuseRemote(resolved: readonly Resolved[], { graph }: DataFlags): void {
  if (graph === undefined) return;
  parseSparqlSource(graph);
  const able = questionAgents.names().filter((name) => questionAgents.entry(name).walksRemote);
  const unable = resolved.find(({ agent, trained }) =>
    trained
      ? !membersOf(trained).every(({ run }) => questionMethods.of(run.config).walksRemote)
      : !able.includes(agent!),
  );
  if (!unable) return;
  const wanted = 'expected an agent that reads a graph behind an endpoint';
  throw new WorkbenchError('usage', `${wanted}, got ${unable.name}, at --graph`, {
    hint: `These do: ${able.join(', ')}, and runs that walk relations.`,
  });
}

/** The agent with its way of being asked and scored. */
export async function openScoredAgent(which: Resolved, data: QuestionData, options: OpenOptions): Promise<Opened> {
  const { agent, close, about, ...opened } = await openQuestionAgent(which, data, { ...options, seed: data.seed });
  const { topicGiven, prompted } = agent;
  const hops = agent.hopSource?.(options.flags.choices === 'likelihood') ?? 'none';
  // Without hops in the data set, or with hops withheld, no agent receives any.
  const given = hops === 'predicted' || (data.hopsGiven && data.samples.some(({ task }) => task.hops !== undefined));
  const budget = prompted ? data.about.budget : null;
  const beamWidth = which.trained && wholeNumber(options.flags.beamWidth, '--beam-width', 1);
  return {
    ...opened,
    async close() {
      await close();
      await closeRemote(data.graph, options.work);
    },
    asker: questionRunner(
      data.graph instanceof RemoteGraph ? toldOfCuts(agent, data.graph) : agent,
      data.hopsGiven,
      data.seed,
    ),
    scorer: questionScorer({ graph: data.graph, names: data.names, budget, topicGiven }),
    about: {
      ...about,
      topicGiven,
      ...(hops !== 'none' && given && { hops }),
      ...(hops === 'predicted' && { hopAccuracy: agent.hopAccuracy }),
      ...(beamWidth !== undefined && { beamWidth }),
    },
  };
}

/** The agent, whose answers say how many relations of hubs that it met were cut. */
const toldOfCuts = (agent: QuestionAgent, graph: RemoteGraph): QuestionAgent => ({
  ...agent,
  async answer(task, session) {
    const { value, cut } = await graph.watch(() => agent.answer(task, session));
    return cut === 0 ? value : { ...value, cost: { ...value.cost, cutRelations: cut } };
  },
});

const closed = new WeakSet<Graph>();

/** Says what an endpoint was asked; all agents share its graph, and are closed together. */
export async function closeRemote(graph: Graph, work: Pick<Work, 'note'>): Promise<void> {
  if (!(graph instanceof RemoteGraph) || closed.has(graph)) return;
  closed.add(graph);
  work.note(graph.summary());
  await graph.close();
}

export async function openQuestionAgent(
  which: Resolved,
  { dataset, graph, names, train }: QuestionGraph,
  { seed, encoder: wanted, flags }: Pick<OpenOptions, 'encoder' | 'flags'> & { seed: number },
): Promise<OpenedQuestionAgent> {
  if (which.trained) return (which.trained.agree ? openAgreeing : openTrained)(which.trained, graph, wanted, flags);
  const { made, ...opened } = await openByName(
    questionAgents,
    which,
    agentOptions(flags, undefined, { seed }),
    (read, { encoder, hashes, closes }): QuestionAgentResources => ({
      ...{ dataset: dataset.manifest.name, graph, names, train, encoder },
      get seed() {
        return read.seed;
      },
      async walker(run) {
        const { ranker, checkpointHash, close } = await openWalker(
          run,
          { dataset: dataset.manifest.name, graph },
          wanted,
        );
        closes.push(close);
        hashes.walker = checkpointHash;
        return ranker;
      },
    }),
    wanted,
  );
  return { agent: made, ...opened };
}

/** A trained walker that helps an agent; close it after use. @param encoder where the file of its text encoder is, if not where its run says */
async function openWalker(name: string, of: Parameters<typeof loadRelationRanker>[1], encoder: string | undefined) {
  const found = findRun(name);
  if (!found) throw noSuchRun(name);
  const { run, checkpoint = 'best' } = found;
  const modelPath = missingModel(encoderModelOf(run)) === undefined ? undefined : encoder;
  const { ranker, close } = await loadRelationRanker({ folder: run.folder, checkpoint }, of, { modelPath });
  return { ranker, close, checkpointHash: await sha256File(resolveCheckpoint(run.folder, checkpoint).file) };
}

/** Runs as one agent, which answers what all of them say alike and else nothing, with their mean confidence. */
async function openAgreeing(trained: Trained, ...options: OpenOptionsOfRun): Promise<OpenedQuestionAgent> {
  const all: OpenedQuestionAgent[] = [];
  const close = async () => {
    for (const one of all) await one.close();
  };
  try {
    for (const one of membersOf(trained)) all.push(await openTrained(one, ...options));
  } catch (error) {
    await close();
    throw error;
  }
  const agents = all.map(({ agent }) => agent);
  return {
    ...all[0]!,
    hashes: { ...all[0]!.hashes, checkpoint: await weightsOf(trained) },
    agent: {
      ...agents[0]!,
      async prepare(tasks, signal) {
        for (const agent of agents) await agent.prepare?.(tasks, signal);
      },
      async answer(task, session) {
        const given: QuestionAnswer[] = [];
        for (const agent of agents) given.push(await agent.answer(task, session));
        const sum = (of: (answer: QuestionAnswer) => number | undefined) =>
          given.reduce((all, one) => all + (of(one) ?? 0), 0);
        const cost = { encodes: sum(({ cost }) => cost.encodes), graphReads: sum(({ cost }) => cost.graphReads) };
        const said = new Set(given.map(({ entities }) => [...entities].sort().join()));
        if (said.size > 1) return { ...noAnswer('runs differ'), cost };
        return { ...given[0]!, cost, confidence: sum(({ confidence }) => confidence) / given.length || undefined };
      },
    },
    close,
  };
}

type OpenOptionsOfRun = [graph: Graph, modelPath: string | undefined, flags: AgentFlags];

async function openTrained(
  trained: Trained,
  ...[graph, modelPath, { backend, beamWidth: width }]: OpenOptionsOfRun
): Promise<OpenedQuestionAgent> {
  const beamWidth = wholeNumber(width, '--beam-width', 1);
  const options = { modelPath, graph, beamWidth, backend: backend === undefined ? undefined : executorOf(backend) };
  const opened = await questionMethods.load(membersOf(trained), options);
  const encoder = (opened.encoderIds ?? [opened.encoder.id]).join('+');
  const { agent, close } = opened;
  return { agent, hashes: { checkpoint: await weightsOf(trained), encoder }, encoder: modelPath, close };
}

/** Agents that answer from a model's memory, which nothing simulates. */
const withoutEvidence: readonly string[] = ['io', 'cot'];

/** True if an agent works with a model: simulated ones suit agents that read facts. */
export const suitsModel = (agent: string, { model = '' }: Pick<AgentFlags, 'model'>): boolean =>
  oracleRates(model) === undefined || !withoutEvidence.includes(agent);

/**
 * The simulated model of `oracle:0.1`; undefined where `spec` names a real one.
 * @param agents names of the agents that will ask it
 * @throws WorkbenchError `usage` for an agent that it does not suit
 */
export async function openSimulated(
  spec: string,
  { graph, samples, seed }: QuestionData,
  agents: readonly string[],
): Promise<LanguageModel | undefined> {
  const rates = oracleRates(spec);
  if (!rates) return undefined;
  const unfit = agents.find((agent) => !suitsModel(agent, { model: spec }));
  if (unfit === undefined) return openOracle({ graph: graph.local, samples, ...rates, seed });
  throw new WorkbenchError('usage', `expected a real model for agent ${unfit}, got ${spec}, at --model`, {
    hint: 'IO and CoT answer from a model’s memory, which is not simulated.',
  });
}
