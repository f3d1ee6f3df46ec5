/** `kgwalk ask RUN` on dialogues: one question to a trained walker. */
import type { Answer } from '../../agents/agent.js';
import { dialogueMethods } from '../../agents/dialogue-agents.js';
import type { LoadedWalker } from '../../agents/dialogue-walker/load-walker.js';
import type { Dialogue, Message, PathAction } from '../../datasets/dialogue.js';
import { readDialogues } from '../../datasets/opendialkg/read-dialogues.js';
import { type WalkSample, walkSamples, type WalkTask } from '../../datasets/walk-sample.js';
import { evaluationSettings } from '../../trainers/run-settings.js';
import type { Graph } from '../../src/kg/graph.js';
import { WorkbenchError } from '../../src/run/errors.js';
import { numberText } from '../../src/run/figures.js';
import { nearestName, printable } from '../../src/run/printable.js';
import { executorOf } from '../../src/nn/open-executor.js';
import { type AnswerFrame, answerSections } from '../answer-frame.js';
import { type EvaluationFlags, wholeNumber } from '../flags.js';
import { datasetOf } from '../named-runs.js';
import {
  type AskedFields,
  lazy,
  membersOf,
  type OpenedAsk,
  type Resolved,
  type ShownAnswer,
  type Trained,
} from '../task.js';
import { namedPath, walkText } from './score.js';

/** Answers of a trained walker from an entity after a message. */
export function openAskDialogue(which: Resolved, flags: EvaluationFlags): OpenedAsk {
  const { trained } = which;
  if (flags.graph !== undefined) {
    throw new WorkbenchError('usage', `expected no graph, since a run walks its own, got ${flags.graph}, at --graph`, {
      hint: 'Leave --graph out.',
    });
  }
  const walker = lazy(
    () => openWalker(trained!, flags),
    (one) => one.close(),
  );
  return {
    async ask([question, ...more], of = {}) {
      const { start: from, dialogue, top: most = '10' } = { ...flags, ...of };
      if (!trained || question === undefined || more.length > 0 || from === undefined) {
        const wanted = 'expected a run, a question and --start ENTITY for dialogues, got something else';
        throw new WorkbenchError('usage', wanted, { hint: 'kgwalk ask RUN "QUESTION" --start ENTITY' });
      }
      const top = wholeNumber(most, '--top', 1);
      const before = dialogue === undefined ? undefined : await dialogueOf(dialogue);
      const { agent, graph } = await walker.get();
      const task = askedWalk(graph, question, from, before);
      const [answer] = await agent.answer([task]);
      return shown(answer!, { question, start: task.startName, top }, graph, which);
    },
    close: walker.close,
  };
}

/** The task of a question, from an entity by its name. @throws WorkbenchError `usage` naming the nearest entity */
export function askedWalk(graph: Graph, question: string, from: string, before?: Dialogue): WalkTask {
  const start = graph.entityNames[entityOf(graph, from)]!;
  // The dialogue so far, and an answer that still has to be found.
  const messages: Message[] = [...(before?.messages ?? []), { sender: 'user', text: question }];
  const asked: PathAction = { sender: 'assistant', position: messages.length, triples: [[start, '', '']] };
  return walkSamples([{ id: 'ask', messages, paths: [...(before?.paths ?? []), asked] }], graph).at(-1)!.task;
}

/** The last message before a path, and where the path starts. */
export function askedTurn({ task: { messages, start, startName }, gold }: WalkSample): AskedFields | undefined {
  const said = messages.at(-1)?.text ?? '';
  return said !== '' && start >= 0 && gold.inGraph ? { question: said, start: startName } : undefined;
}

function openWalker(trained: Trained, { encoder, model, backend, top = '10' }: EvaluationFlags): Promise<LoadedWalker> {
  const { beamWidth, twoHopBonus } = evaluationSettings.parse(trained.run.config.evaluation ?? {});
  // Where the encoder's file is now; `--model` is an older name of it.
  const modelPath = encoder ?? model;
  return dialogueMethods.load(membersOf(trained), {
    ...{ beamWidth: Math.max(beamWidth, wholeNumber(top, '--top', 1)), twoHopBonus },
    modelPath,
    backend: backend === undefined ? undefined : executorOf(backend),
  });
}

function shown(
  answer: Answer,
  { question, start, top }: { question: string; start: string; top: number },
  graph: Graph,
  which: Resolved,
): ShownAnswer {
  const paths = answer.paths
    .slice(0, top)
    .map(({ path, logProb }) => ({ path: namedPath(path, graph), probability: Math.exp(logProb) }));
  const answers = answer.answers.slice(0, top).map(({ entity, summedLogProb }) => ({
    entity: graph.entityNames[entity]!,
    probability: Math.exp(summedLogProb),
  }));
  const frame: AnswerFrame = {
    ...{ question, topics: [start] },
    answers: paths.map(({ path, probability }) => ({
      cells: { answer: path.at(-1)?.[2] ?? start, probability: probability.toFixed(4) },
      from: walkText(path, start),
    })),
    none: `${printable(start)} has no edges in graph ${graph.name}: there is nowhere to go.`,
    over: `graph ${graph.name} of ${datasetOf(which.trained!.run)}`,
  };
  return {
    json: { start, question, paths, answers },
    sections: answerSections(frame, which),
    answers: paths.map(({ path, probability }) => ({
      text: walkText(path, start),
      score: `${numberText(probability)} %`,
    })),
    walks: paths.map(({ path }) => path),
  };
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
    near === undefined ? {} : { hint: `Did you mean ${JSON.stringify(near)}?` },
  );
}

/** @throws WorkbenchError `data` for a file of none or several dialogues */
async function dialogueOf(file: string): Promise<Dialogue> {
  const { dialogues } = await readDialogues(file);
  const [dialogue, ...others] = dialogues;
  if (dialogue && others.length === 0) return dialogue;
  throw new WorkbenchError('data', `expected one dialogue, got ${dialogues.length}, at ${file}`);
}
