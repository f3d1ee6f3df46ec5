/** What a walking agent is asked and what it is scored against, kept apart: agents get the task alone. */
import type { Path } from '../src/kg/path.js';
import type { Message, Sender } from './dialogue.js';

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
