/** Opening of untrained agents: from named options alone, which the evaluation keeps. */
import type { TaskClient } from '../agents/prompted/ark/ark-agent.js';
import type { AgentRegistry } from '../agents/registry.js';
import { openEncoder } from '../src/encoder/open-encoder.js';
import { encoderSettings, vectorSettings } from '../src/encoder/settings.js';
import type { StateEncoder } from '../src/encoder/state-encoder.js';
import type { QuestionClient } from '../src/llm/client/create-clients.js';
import { defaultModel } from '../src/llm/model-files.js';
import { cacheFolder } from '../src/run/locations.js';
import { WorkbenchError } from '../src/run/errors.js';
import type { RunInfo } from '../src/run/records.js';
import { type AgentFlags, budgetOf, type DataFlags, type EvaluationFlags, flagOf } from './flags.js';
import type { Resolved } from './task.js';

/** Options that agents of a task may read, each by value; `run`: whose settings they are by default. */
export function agentOptions<Options extends object>({ kept }: DataFlags, run: RunInfo | undefined, own: Options) {
  return { encoder: vectorSettings.parse(run?.config.encoder ?? {}), ...own, ...(kept?.about.options as object) };
}

/** @param readers by option: true where an agent reads it, else who would @throws WorkbenchError `usage` for an option that none reads */
export function refuseUnread(
  resolved: readonly Resolved[],
  flags: EvaluationFlags,
  readers: Partial<Record<keyof EvaluationFlags, string | true>>,
): void {
  for (const [key, by] of Object.entries(readers) as [keyof EvaluationFlags, string | true][]) {
    if (by === true || flags[key] === undefined) continue;
    const got = resolved.map(({ name }) => name).join(', ');
    const hint = `Leave ${flagOf(key)} out.`;
    throw new WorkbenchError('usage', `expected ${by} with ${flagOf(key)}, got ${got}`, { hint });
  }
}

/** Access to the text encoder; hashes of other inputs are added to `hashes`, and `closes` is called after use. */
interface Opening {
  encoder(): Promise<StateEncoder>;
  hashes: Record<string, string>;
  closes: (() => unknown)[];
}

/**
 * Opens an agent by name.
 * @param options all that it may read except data, which hashes and `about` name; those that it did read are in `about.options`
 * @param resourcesOf what it is made from; nothing that changes an answer comes from elsewhere than `options` and data
 * @param place of the text encoder's model; default the embedded one, else a hashed encoder
 * @throws as `AgentRegistry.open` and the resources
 */
export async function openByName<Resources, Made, Options extends ReturnType<typeof agentOptions>>(
  agents: Pick<AgentRegistry<Resources, Made>, 'open'>,
  { agent, switches }: Pick<Resolved, 'agent' | 'switches'>,
  options: Options,
  resourcesOf: (options: Options, opening: Opening) => Resources,
  place = defaultModel() ?? 'hashed:256',
) {
  const [hashes, closes]: [Opening['hashes'], Opening['closes']] = [{}, []];
  let opened: Promise<StateEncoder> | undefined;
  const encoderOf = ({ encoder: settings }: Options) =>
    (opened ??= openEncoder(encoderSettings.parse(settings), { modelPath: place, cacheFolder: cacheFolder() }));
  const close = async () => {
    for (const one of closes) await one();
    await (await opened)?.dispose();
  };
  try {
    const resources = (read: Options) => resourcesOf(read, { encoder: () => encoderOf(read), hashes, closes });
    const { made, options: about } = await agents.open(agent!, options, resources, switches);
    const encoder = await opened;
    return {
      ...{ made, close },
      about: { options: about, ...(encoder && { encoder: encoder.name }) },
      hashes: { ...(encoder && { encoder: encoder.id }), ...hashes },
      ...(encoder && { encoder: place }),
    };
  } catch (error) {
    await close().catch(() => {});
    throw error;
  }
}

/** For the record of an agent of several calls: how many it may make, and how it chooses. */
export const callsOf = ({ budget, budgetMode = 'strict', choices }: AgentFlags) => ({
  ...{ budget: budgetOf(budget), budgetMode },
  ...(choices === 'likelihood' && { choices }),
});

/** A task's view of the model, for agents that report their own cost. */
export const taskClient = ({ client, totals }: QuestionClient): TaskClient => ({
  client,
  cost() {
    const { calls, promptTokens, cachedTokens, completionTokens } = totals();
    return { calls, promptTokens, cachedTokens, completionTokens };
  },
});
