/** Opens what a kept evaluation named, to run it again. */
import { type AskedEvaluation, runOf } from '../evaluation/keep.js';
import type { Row, Sample } from '../evaluation/score.js';
import { WorkbenchError } from '../src/run/errors.js';
import { labelsOfHashes, requirePlugins } from '../src/run/plugins.js';
import { openAgents } from './evaluate.js';
import { usualFlags } from './flags.js';
import { loadTask, type AnyTask, type TaskName } from './index.js';
import { findTrained } from './named-runs.js';
import type { Data, OpenedAgent, Resolved, Work } from './task.js';

/** The agent and the samples of a kept evaluation; close them after use. */
interface Replayed {
  task: AnyTask;
  data: Data<Sample>;
  agent: OpenedAgent<Sample, unknown, Row>;
  close(): Promise<void>;
}

/**
 * @param encoder where the file of the text encoder is now
 * @throws WorkbenchError `data` for a missing run, a data set of another import, and another encoder
 */
export async function openReplayed(
  asked: AskedEvaluation & { folder: string },
  encoder: string | undefined,
  work: Work,
): Promise<Replayed> {
  requirePlugins(labelsOfHashes(asked.hashes), { what: 'the evaluation', place: asked.folder });
  const task = await loadTask(asked.task as TaskName);
  const { about, checkpoint = usualFlags.checkpoint, encoder: before } = asked;
  const limit = about.limit === undefined ? undefined : String(about.limit);
  const same = { split: about.split, limit, checkpoint, encoder: encoder ?? before, kept: asked };
  const flags = { ...usualFlags, ...same, ...task.flagsOf.kept(asked) };
  const { data, agents, close } = await openAgents(task, [resolvedOf(asked)], flags, work);
  const [agent] = agents;
  try {
    const found: Readonly<Record<string, string>> = { ...data.hashes, ...agent!.hashes };
    for (const [key, hash] of Object.entries(asked.hashes)) {
      if (found[key] === hash || key.startsWith('plugin:')) continue;
      const got = `${hash.slice(0, 40)}, got ${found[key]?.slice(0, 40) ?? 'none'}`;
      throw new WorkbenchError('data', `expected the ${key} of the evaluation, ${got}, at ${asked.folder}`, {
        hint: 'It was imported again, trained on or changed since then: put it back, or evaluate again. --encoder FILE says where text vectors are from.',
      });
    }
    return { task, data, agent: agent!, close };
  } catch (error) {
    await close();
    throw error;
  }
}

function resolvedOf(asked: AskedEvaluation & { folder: string }): Resolved {
  const { agent, checkpoint, about } = asked;
  const run = runOf(asked);
  const { switches = about.switches ?? {} } = about.options ?? {};
  if (run === undefined) return { name: agent, agent, switches: switches as Record<string, unknown> };
  const trained = findTrained(run, checkpoint!);
  if (trained) return { name: run, switches: {}, trained };
  throw new WorkbenchError('data', `expected the run of the evaluation, got nothing, at ${run}`);
}
