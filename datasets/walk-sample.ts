/** Walk task and gold, separate: agents only get the task. */
import type { Graph, Path, Triple } from '../src/kg/graph.js';
import { sampled, subSeed } from '../src/run/seeds.js';
import type { Dialogue, Message, PathAction, Sender } from './dialogue.js';
import type { DataSettings } from './settings.js';

/** Input of a walking agent. */
export interface WalkTask {
  /** Unique in its data set: dialogue id and path number, such as `train-17#2`. */
  id: string;
  dialogueId: string;
  /** All messages before the path was chosen, oldest first. */
  messages: readonly Message[];
  /** Speaker who chooses the path. */
  sender: Sender;
  /** Start entity id, or `unknownId` if the graph lacks it. */
  start: number;
  startName: string;
  /** Paths chosen earlier in this dialogue, oldest first; ids, `unknownId` for names missing from the graph. */
  earlierPaths: readonly Path[];
  /** Training only: the path was derived from entities named in the turn, not annotated. */
  linked?: true;
}

/** Gold of a walk. */
export interface WalkGold {
  /** Chosen path; ids, `unknownId` for names missing from the graph. */
  path: Path;
  /** Tail of the last triple. */
  target: number;
  /** True if every triple of the path is an edge of the graph; otherwise the sample counts as a miss. */
  inGraph: boolean;
}

/** A task with its gold. */
export type WalkSample = { task: WalkTask; gold: WalkGold };

/** The three parts of a data set. */
export type SplitName = 'train' | 'valid' | 'test';

/** In display order. */
export const splitNames: readonly SplitName[] = ['train', 'valid', 'test'];

/** Settings that select the samples of a split. */
export type SplitSettings = Pick<DataSettings, 'turns' | 'maxDialogues' | 'trainSamples' | 'validSamples'> &
  Partial<Pick<DataSettings, 'fold' | 'oracle'>>;

/**
 * Samples of a split for training, its evaluations and all train counts, so that all use the same. Ids and order are kept. Test is never
 * truncated.
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

/** True if a train dialogue belongs to the fold that a run leaves out. @param fold `K/N`; null: none */
export function isLeftOut(dialogueId: string, fold: string | null): boolean {
  if (fold === null) return false;
  const [k, n] = fold.split('/').map(Number) as [number, number];
  return (subSeed(0, `data/fold ${dialogueId}`) >>> 0) % n === k - 1;
}

/** Selection of dialogues and paths. */
export interface WalkSampleOptions {
  /** `assistant`: paths chosen by the assistant; earlier paths of both speakers stay visible. Default `all`. */
  turns?: 'all' | 'assistant';
  /** Maximum number of dialogues; null or absent: all. */
  maxDialogues?: number | null;
  /** `reply`: append the message after the path choice, if its speaker wrote one, as an oracle input. Default null. */
  oracle?: DataSettings['oracle'];
}

/**
 * Samples in dialogue order. Samples with a start without edges or a gold missing from the graph stay and count as misses. `#n` of an id
 * counts all paths of the dialogue from 1, so ids do not depend on `turns`.
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

/** True if the speaker who chose a path spoke next. */
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
