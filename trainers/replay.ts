/** What a run saw at the step where it diverged, beside what is seen there now. */
import { Diverged } from '../src/tensor/diverged.js';
import { recordOf, sameStep, type RecordedStep } from './saved-step.js';

/** A step as it was recorded and as it is here. */
export interface Replay {
  phase: string;
  backend: string;
  /** What the run saw. */
  recorded: RecordedStep;
  /** What is seen here; absent where every number is finite. */
  seen?: RecordedStep;
  /** Where every number is finite: the figures of the step. */
  figures?: Record<string, number>;
  /** Whether both are equal, bit by bit. */
  same: boolean;
}

/** @param run makes the step; returns its figures, or throws that it diverged */
export async function replayOf(
  about: Pick<Replay, 'phase' | 'backend' | 'recorded'>,
  run: () => Record<string, number> | Promise<Record<string, number>>,
): Promise<Replay> {
  try {
    return { ...about, figures: await run(), same: false };
  } catch (error) {
    if (!(error instanceof Diverged)) throw error;
    const seen = recordOf(error.step);
    return { ...about, seen, same: sameStep(seen, about.recorded) };
  }
}
