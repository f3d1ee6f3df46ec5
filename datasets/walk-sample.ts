/** What a walking agent is asked and what it is scored against, kept apart: agents get the task alone. */
import type { Graph, Path, Triple } from '../src/kg/graph.js';
import { sampled, subSeed } from '../src/run/seeds.js';
import type { Dialogue, Message, PathAction, Sender } from './dialogue.js';
import type { DataSettings } from './settings.js';

/** What an agent is asked. */
export interface WalkTask {
  /** Unique in its data set: dialogue id and path number, such as `train-17#2`. */
  id: string;
  dialogueId: string;
  /** Everything said before the path was chosen, oldest first. */
  messages: readonly Message[];
  /** Who chooses the path. */
  sender: Sender;
  /** Entity id where the walk starts, or `unknownId` where the graph lacks it. */
  start: number;
  startName: string;
  /** Paths chosen earlier in this dialogue, oldest first; ids, `unknownId` for names the graph lacks. */
  earlierPaths: readonly Path[];
  /** Whether nobody chose a path here and one was made of the entities that the turn names: a training sample alone. */
  linked?: true;
}

/** What its answer is scored against. */
export interface WalkGold {
  /** The path that was chosen; ids, `unknownId` for names the graph lacks. */
  path: Path;
  /** Tail of the last triple. */
  target: number;
  /** Whether every triple of the path is an edge of the graph; where not, the sample is a counted miss. */
  inGraph: boolean;
  /** Every right end, where there may be several, as of a question; absent: `target` alone. */
  targets?: readonly number[];
}

/** A task with its gold. */
export interface WalkSample {
  task: WalkTask;
  gold: WalkGold;
}

/** The three parts of a data set. */
export type SplitName = 'train' | 'valid' | 'test';

/** In the order in which they are always shown. */
export const splitNames: readonly SplitName[] = ['train', 'valid', 'test'];

/** What decides which samples a split has. */
export type SplitSettings = Pick<DataSettings, 'turns' | 'maxDialogues' | 'trainSamples' | 'validSamples'> &
  Partial<Pick<DataSettings, 'fold' | 'oracle'>>;

/**
 * Training, its evaluations and everything that is counted over train read this, so that all see the same samples. They
 * keep their ids and their order. Test is never cut.
 */
export function splitSamples(
  dataset: { loadDialogues(split: SplitName): Dialogue[] },
  graph: Graph,
  settings: SplitSettings,
  split: SplitName,
): WalkSample[] {
  const { fold = null, trainSamples, validSamples } = settings;
  const all = walkSamples(dataset.loadDialogues(split), graph, settings);
  const samples = split === 'train' ? all.filter(({ task }) => !isLeftOut(task.dialogueId, fold)) : all;
  const counts: Record<SplitName, number | null> = { train: trainSamples, valid: validSamples, test: null };
  return sampled(samples, counts[split] ?? Infinity, `data/${split}-samples`);
}

/** Whether a dialogue of train is in the fold that a run leaves out. @param fold `K/N`; null: none is */
export function isLeftOut(dialogueId: string, fold: string | null): boolean {
  if (fold === null) return false;
  const [k, n] = fold.split('/').map(Number) as [number, number];
  return (subSeed(0, `data/fold ${dialogueId}`) >>> 0) % n === k - 1;
}

/** Which dialogues and whose paths become samples. */
export interface WalkSampleOptions {
  /** `assistant` keeps the paths that the assistant chose; earlier paths of both speakers stay visible. Default `all`. */
  turns?: 'all' | 'assistant';
  /** Only the first dialogues; null or absent: all. */
  maxDialogues?: number | null;
  /** `reply`: tasks end with what was said after the path was chosen, where its speaker said something: not to be known. Default null. */
  oracle?: DataSettings['oracle'];
}

/**
 * Samples in the order of the dialogues. A sample whose start has no edges or whose gold is not in the graph stays and
 * counts as a miss. `#n` of an id counts all paths of the dialogue from 1, so ids do not depend on `turns`.
 */
export function walkSamples(
  dialogues: readonly Dialogue[],
  graph: Graph,
  { turns = 'all', maxDialogues = null, oracle = null }: WalkSampleOptions = {},
): WalkSample[] {
  const samples: WalkSample[] = [];
  for (const dialogue of maxDialogues === null ? dialogues : dialogues.slice(0, maxDialogues)) {
    const paths = dialogue.paths.map((action) => pathOf(action, graph));
    dialogue.paths.forEach((action, index) => {
      if (turns === 'assistant' && action.sender !== 'assistant') return;
      const path = paths[index]!;
      const [start] = path[0]!;
      const [, , target] = path.at(-1)!;
      samples.push({
        task: {
          id: `${dialogue.id}#${index + 1}`,
          dialogueId: dialogue.id,
          messages: dialogue.messages.slice(
            0,
            action.position + Number(oracle === 'reply' && isReply(dialogue, action)),
          ),
          sender: action.sender,
          start,
          startName: action.triples[0]![0],
          earlierPaths: paths.slice(0, index),
        },
        gold: { path, target, inGraph: graph.holds(path) },
      });
    });
  }
  return samples;
}

/** Whether whoever chose a path spoke next. */
function isReply({ messages }: Dialogue, { position, sender }: PathAction): boolean {
  return messages[position]?.sender === sender;
}

function pathOf(action: PathAction, graph: Graph): Path {
  return action.triples.map(([head, relation, tail]): Triple => [
    graph.entityId(head),
    graph.relationId(relation),
    graph.entityId(tail),
  ]);
}
