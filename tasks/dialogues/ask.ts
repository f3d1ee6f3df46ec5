/** `kgwalk ask RUN` on dialogues: one question to a trained walker. */
import { loadWalkerRun } from '../../agents/walker/load-walker.js';
import type { Dialogue, Message, PathAction } from '../../datasets/dialogue.js';
import { readDialogues } from '../../datasets/opendialkg/read-dialogues.js';
import { walkSamples } from '../../datasets/walk-sample.js';
import { evaluationSettings } from '../../evaluation/settings.js';
import type { Graph } from '../../src/kg/graph.js';
import { WorkbenchError } from '../../src/run/errors.js';
import type { Section } from '../../src/run/evaluation.js';
import { nearestName, printable } from '../../src/run/printable.js';
import { backendOf } from '../../src/tensor/backend.js';
import { type EvaluationFlags, wholeNumber } from '../flags.js';
import type { Resolved, Shown } from '../task.js';
import { namedPath, walkText } from './score.js';

/** Where a trained walker goes from an entity after something was said. */
export async function askDialogue(
  [question, ...more]: readonly string[],
  { trained }: Resolved,
  flags: EvaluationFlags,
): Promise<Shown> {
  if (!trained || question === undefined || more.length > 0 || flags.start === undefined) {
    throw new WorkbenchError('usage', 'expected a run, a question and --start ENTITY on dialogues, got others', {
      hint: 'kgwalk ask RUN "QUESTION" --start ENTITY',
    });
  }
  const top = wholeNumber(flags.top ?? '10', '--top', 1);
  const before = flags.dialogue === undefined ? undefined : await dialogueOf(flags.dialogue);
  const { run, checkpoint } = trained;
  const { beamWidth, twoHopBonus } = evaluationSettings.parse(run.config.evaluation ?? {});
  // Where the encoder's file is now; `--model` is an older name of it.
  const modelPath = flags.encoder ?? flags.model;
  const walker = await loadWalkerRun(run.folder, {
    ...{ checkpoint, beamWidth: Math.max(beamWidth, top), twoHopBonus },
    ...(modelPath !== undefined && { modelPath }),
    ...(flags.backend !== undefined && { backend: backendOf(flags.backend) }),
  });
  try {
    const { agent, graph } = walker;
    const start = graph.entityNames[entityOf(graph, flags.start)]!;
    // The dialogue so far, and an answer that still has to be found.
    const messages: Message[] = [...(before?.messages ?? []), { sender: 'user', text: question }];
    const asked: PathAction = { sender: 'assistant', position: messages.length, triples: [[start, '', '']] };
    const { task } = walkSamples([{ id: 'ask', messages, paths: [...(before?.paths ?? []), asked] }], graph).at(-1)!;
    const [answer] = await agent.answer([task]);
    const paths = answer!.paths
      .slice(0, top)
      .map(({ path, logProb }) => ({ path: namedPath(path, graph), probability: Math.exp(logProb) }));
    const answers = answer!.answers.slice(0, top).map(({ entity, summedLogProb }) => ({
      entity: graph.entityNames[entity]!,
      probability: Math.exp(summedLogProb),
    }));
    const rows = paths.map(({ path, probability }, i) => ({
      rank: i + 1,
      probability: probability.toFixed(4),
      path: walkText(path, start),
    }));
    const nowhere = [`${printable(start)} has no edges in graph ${graph.name}: there is nowhere to go.`];
    const section: Section = { title: '', ...(rows.length > 0 ? { rows } : { lines: nowhere }) };
    return { json: { start, question, paths, answers }, sections: [section] };
  } finally {
    await walker.close();
  }
}

/** @throws WorkbenchError `usage` naming the nearest entity */
function entityOf(graph: Graph, name: string): number {
  const entity = graph.entityId(name);
  if (entity >= 0) return entity;
  const folded = graph.entityNames.findIndex((other) => other.toLowerCase() === name.toLowerCase());
  if (folded >= 0) return folded;
  const near = nearestName(name, graph.entityNames);
  throw new WorkbenchError(
    'usage',
    `expected an entity of graph ${graph.name}, got ${JSON.stringify(name)}, at --start`,
    {
      ...(near !== undefined && { hint: `Did you mean ${JSON.stringify(near)}?` }),
    },
  );
}

/** @throws WorkbenchError `data` for a file of none or several dialogues */
async function dialogueOf(file: string): Promise<Dialogue> {
  const { dialogues } = await readDialogues(file);
  const [dialogue, ...others] = dialogues;
  if (dialogue && others.length === 0) return dialogue;
  throw new WorkbenchError('data', `expected one dialogue, got ${dialogues.length}, at ${file}`);
}
