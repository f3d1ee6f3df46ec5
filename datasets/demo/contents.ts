/** Everything of a demo world that is made in memory. */
import type { Dialogue } from '../dialogue.js';
import type { SplitName } from '../walk-sample.js';
import { demoDialogues } from './dialogues.js';
import { demoQuestions, type DemoQuestion } from './questions.js';
import type { DemoSettings } from './settings.js';
import { demoWorld, type DemoWorld } from './world.js';

/** A world with what is said and asked of it. */
export interface DemoContents {
  world: DemoWorld;
  dialogues: Record<SplitName, Dialogue[]>;
  questions: DemoQuestion[];
}

/** Makes the world of these settings; equal settings, equal contents. @param graph name of its graph */
export function demoContents(settings: DemoSettings, graph = 'dialogue'): DemoContents {
  const world = demoWorld(settings, graph);
  return { world, dialogues: demoDialogues(world, settings), questions: demoQuestions(world, settings) };
}
