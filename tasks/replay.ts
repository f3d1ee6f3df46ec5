/** Opens what a kept evaluation named, to run it again. */
import { type AskedEvaluation, runOf } from '../evaluation/keep.js';
import type { Row, Sample } from '../evaluation/score.js';
import { WorkbenchError } from '../src/run/errors.js';
import { labelsOfHashes, requirePlugins } from '../src/run/plugins.js';
import { openAgents } from './evaluate.js';
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
  const wanted = encoder ?? asked.encoder;
  const flags = { ...task.flagsOf(asked), encoder: wanted };
  const { data, agents, close } = await openAgents(task, [resolvedOf(asked)], flags, work);
  const [agent] = agents;
  const other = (expected: string, hint: string) => new WorkbenchError('data', `expected ${expected}`, { hint });
  try {
    for (const [key, hash] of Object.entries<string>(data.hashes)) {
      if (asked.hashes[key] === hash) continue;
      const { dataset } = asked.about;
      throw other(
        `data set ${dataset} as it was evaluated, got another, at ${asked.folder}`,
        'It has been imported again since then, from other files.',
      );
    }
    const { encoder: vectors, walker } = agent!.hashes ?? {};
    if (vectors !== asked.hashes.encoder) {
      throw other(
        `text vectors of ${asked.hashes.encoder}, got those of ${vectors}, at --encoder`,
        'Give the file that the evaluation was made with.',
      );
    }
    if (walker !== asked.hashes.walker) {
      throw other(
        `the walker of checkpoint ${asked.hashes.walker}, got ${walker}, at the switches of ${asked.folder}`,
        'Its run was trained on, or another run has its name: name the checkpoint by `RUN@NAME`.',
      );
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
  if (run === undefined) return { name: agent, agent, switches: about.switches ?? {} };
  const trained = findTrained(run, checkpoint!);
  if (trained) return { name: run, switches: {}, trained };
  throw new WorkbenchError('data', `expected the run of the evaluation, got nothing, at ${run}`);
}
