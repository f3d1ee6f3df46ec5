/** Players of episodes: agents by name, and policies of runs. */
import {
  type Chooser,
  episodeSeeds,
  type PlayedEpisode,
  playEpisodes,
  randomChooser,
} from '../../agents/policy/play.js';
import type { LoadedPolicy, PolicyOptions } from '../../agents/policy/agent.js';
import { policyMethod } from '../../agents/policy/train.js';
import { MethodRegistry } from '../../agents/method.js';
import type { PolicyShape } from '../../agents/policy/spaces.js';
import { AgentRegistry } from '../../agents/registry.js';
import type { AskedEvaluation } from '../../evaluation/keep.js';
import type { AgentRunner } from '../../evaluation/score.js';
import { WorkbenchError } from '../../src/run/errors.js';
import { executorOf } from '../../src/nn/open-executor.js';
import type { RunInfo } from '../../src/run/records.js';
import { type DataFlags, splitOf, wholeNumber } from '../flags.js';
import { sameOfRuns } from '../named-runs.js';
import { type Data, membersOf, type OpenedAgent, type OpenOptions, type Resolved } from '../task.js';
import { type EpisodeRow, episodeScorer, type EpisodeSample } from './score.js';
import { type EnvSource, type OwnParts, registeredSource, shapeOf, sourceHash } from '../../agents/policy/source.js';

/** Untrained agents of episodes: they choose actions by what is seen. */
export const episodeAgents = new AgentRegistry<{ shape: PolicyShape }, Chooser>({
  random: { create: ({ shape }) => randomChooser(shape) },
});

/** Methods that are trained on episodes: a line each. */
export const policyMethods = new MethodRegistry<OwnParts, PolicyOptions, LoadedPolicy>({ policy: policyMethod });

/** Episodes to be played, and where. */
export interface EpisodeData extends Data<EpisodeSample> {
  source: EnvSource;
  shape: PolicyShape;
}

/** Episodes of an evaluation where no number is asked for. */
const usualEpisodes = 100;

/**
 * @param own environment of a program
 * @throws WorkbenchError `usage` for runs in several environments, and for one that is not registered here
 */
export function episodeData(own: OwnParts, flags: DataFlags, runs: readonly RunInfo[]): Promise<EpisodeData> {
  const ofRuns = sameOfRuns(runs, ({ config }) => {
    const { id, options } = config.env as { id: string; options?: Record<string, unknown> };
    return { id, ...(options && { options }) };
  });
  if (ofRuns && flags.dataset !== undefined && flags.dataset !== ofRuns.id) {
    throw new WorkbenchError(
      'usage',
      `expected the environment of run ${runs[0]!.id}, which is ${ofRuns.id}, got ${flags.dataset}`,
      { hint: 'A run keeps its environment: leave --dataset out.' },
    );
  }
  const { dataset = own.source?.id, envOptions } = flags;
  const env =
    ofRuns ?? (dataset === undefined ? undefined : { id: dataset, ...(envOptions && { options: envOptions }) });
  if (env === undefined) {
    throw new WorkbenchError('usage', 'expected an environment, got none, at --dataset', {
      hint: 'Such as --dataset kgwalk/CartPole-v1.',
    });
  }
  const split = splitOf(flags.split ?? 'valid', ['valid', 'test']);
  const limit = wholeNumber(flags.limit, '--limit', 1) ?? usualEpisodes;
  const source = own.source ?? registeredSource(env);
  const shape = shapeOf(source);
  const seeds = episodeSeeds(split, limit);
  return Promise.resolve({
    ...{ source, shape },
    samples: seeds.map((seed, i) => ({ task: { id: `${split}-${i}`, seed } })),
    excluded: {},
    about: { dataset: env.id, split, episodes: limit, ...(env.options && { envOptions: env.options }) },
    hashes: { dataset: sourceHash(env, shape) },
    ...{ resamples: 2000, examples: 0 },
  });
}

/** The options that ask for the episodes of a kept evaluation. */
export function episodeFlagsOf({ about, checkpoint }: AskedEvaluation): DataFlags {
  const { dataset, episodes } = about;
  const envOptions = about.envOptions as Record<string, unknown> | undefined;
  return { ...(checkpoint === undefined && { dataset, envOptions }), limit: String(episodes as number) };
}

/** The agent with its way of being asked and scored. */
export async function openEpisodeAgent(
  own: OwnParts,
  which: Resolved,
  { source, shape, hashes }: EpisodeData,
  { flags }: Pick<OpenOptions, 'flags'>,
): Promise<OpenedAgent<EpisodeSample, PlayedEpisode, EpisodeRow>> {
  const { agent, trained } = which;
  if (!trained) {
    const { made, options } = await episodeAgents.open(agent!, {}, () => ({ shape }), which.switches);
    return { asker: playing(agent!, source, made), scorer: episodeScorer, about: { options } };
  }
  const backend = flags.backend === undefined ? undefined : executorOf(flags.backend);
  const { choose, close } = await policyMethods.load(membersOf(trained), { shape, hashes, make: own.policy, backend });
  return { asker: playing('policy', source, choose), scorer: episodeScorer, close };
}

function playing(name: string, source: EnvSource, choose: Chooser): AgentRunner<EpisodeSample['task'], PlayedEpisode> {
  return {
    name,
    async ask(tasks, take, { onPrepared, signal }) {
      onPrepared?.();
      const seeds = tasks.map(({ seed }) => seed);
      const onEpisode = (index: number, answer: PlayedEpisode) => take(index, { answer });
      await playEpisodes(() => source.make(), choose, { seeds, onEpisode, signal });
    },
  };
}
