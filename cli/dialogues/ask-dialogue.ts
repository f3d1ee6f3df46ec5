/** `kgwalk ask RUN` on dialogues: one question to a trained walker. */
import type { Dialogue, Message, PathAction } from '../../datasets/dialogue.js';
import type { Graph, Path } from '../../src/kg/graph.js';
import { WorkbenchError } from '../../src/run/errors.js';
import { printable } from '../../src/run/printable.js';
import { printJson, printLine, printTable } from '../output.js';

/** The options of `kgwalk ask RUN`. */
export interface AskFlags {
  start: string;
  dialogue?: string;
  checkpoint: string;
  /** Where the encoder's file is now; `model` is an older name of it. */
  encoder?: string;
  model?: string;
  backend?: string;
  top: string;
  json?: boolean;
}

/** Where a trained walker goes from an entity after something was said. */
export async function askDialogue(run: string, question: string, flags: AskFlags): Promise<void> {
  const top = Number(flags.top);
  if (!Number.isInteger(top) || top < 1) {
    throw new WorkbenchError('usage', `expected a whole number from 1, got ${flags.top}, at --top`);
  }
  const before = flags.dialogue === undefined ? undefined : await dialogueOf(flags.dialogue);
  const { loadWalkerRun } = await import('../../agents/walker/load-walker.js');
  const { walkSamples } = await import('../../datasets/walk-sample.js');
  const { evaluationSettings } = await import('../../evaluation/settings.js');
  const { openRun } = await import('../../src/run/run-folder.js');
  const { beamWidth, twoHopBonus } = evaluationSettings.parse(openRun(run).config.evaluation ?? {});
  const { backendOf } = await import('../../src/tensor/backend.js');
  const moved = flags.encoder ?? flags.model;
  const modelPath = moved === undefined ? {} : { modelPath: moved };
  const backend = flags.backend === undefined ? {} : { backend: backendOf(flags.backend) };
  const walker = await loadWalkerRun(run, {
    checkpoint: flags.checkpoint,
    beamWidth: Math.max(beamWidth, top),
    twoHopBonus,
    ...modelPath,
    ...backend,
  });
  try {
    const { agent, graph } = walker;
    const start = graph.entityNames[await entityOf(graph, flags.start)]!;
    // The dialogue so far, and an answer that still has to be found.
    const messages: Message[] = [...(before?.messages ?? []), { sender: 'user', text: question }];
    const asked: PathAction = { sender: 'assistant', position: messages.length, triples: [[start, '', '']] };
    const { task } = walkSamples([{ id: 'ask', messages, paths: [...(before?.paths ?? []), asked] }], graph).at(-1)!;
    const [answer] = await agent.answer([task]);
    const paths = answer!.paths
      .slice(0, top)
      .map(({ path, logProb }) => ({ path: named(path, graph), probability: Math.exp(logProb) }));
    const answers = answer!.answers.slice(0, top).map(({ entity, summedLogProb }) => ({
      entity: graph.entityNames[entity]!,
      probability: Math.exp(summedLogProb),
    }));
    if (flags.json) return printJson({ start, question, paths, answers });
    if (paths.length === 0)
      return printLine(`${printable(start)} has no edges in graph ${graph.name}: there is nowhere to go.`);
    printTable(
      paths.map(({ path, probability }, i) => ({
        rank: i + 1,
        probability: probability.toFixed(4),
        path: path
          .map(([head, relation, tail], hop) => `${hop === 0 ? head : ''} —${relation}→ ${tail}`.trim())
          .join(' '),
      })),
    );
  } finally {
    await walker.close();
  }
}

function named(path: Path, graph: Graph): [string, string, string][] {
  return path.map(([head, relation, tail]) => [
    graph.entityNames[head]!,
    graph.relationNames[relation]!,
    graph.entityNames[tail]!,
  ]);
}

/** @throws WorkbenchError `usage` naming the nearest entity */
async function entityOf(graph: Graph, name: string): Promise<number> {
  const entity = graph.entityId(name);
  if (entity >= 0) return entity;
  const folded = graph.entityNames.findIndex((other) => other.toLowerCase() === name.toLowerCase());
  if (folded >= 0) return folded;
  const { nearestName } = await import('../../src/run/printable.js');
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
  const { readDialogues } = await import('../../datasets/opendialkg/read-dialogues.js');
  const { dialogues } = await readDialogues(file);
  const [dialogue, ...others] = dialogues;
  if (dialogue && others.length === 0) return dialogue;
  throw new WorkbenchError('data', `expected one dialogue, got ${dialogues.length}, at ${file}`);
}
