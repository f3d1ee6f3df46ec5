/** Returns of episodes, as rows and figures. */
import { z } from 'zod';
import type { PlayedEpisode } from '../../agents/policy/play.js';
import type { Measure, Sample, Scorer } from '../../evaluation/score.js';
import { arrowFile } from '../../src/run/arrow.js';
import type { Figure } from '../../src/run/figures.js';
import { openObject } from '../../src/run/read-json.js';
import { anyNumber } from '../../src/run/records.js';

/** An episode to be played: all of it follows from its seed and from what is done. */
export interface EpisodeSample extends Sample {
  task: { id: string; seed: number };
}

/** A line of `answers.jsonl`; what was not played has no numbers. */
const episodeRow = openObject({
  id: z.string(),
  /** Sum of the rewards, undiscounted. */
  return: anyNumber.optional(),
  length: z.int().optional(),
  /** Truncated, not terminated. */
  truncated: z.boolean().optional(),
  miss: z.string().optional(),
});
/** See `episodeRow`. */
export type EpisodeRow = z.output<typeof episodeRow>;

const figures: readonly Figure[] = [
  { key: 'return', title: 'return', unit: 'number', better: 'high', place: 'main', tested: true },
  { key: 'length', title: 'length', unit: 'number', better: 'high', place: 'table' },
  { key: 'truncated', title: 'cut', unit: '%', better: 'low', place: 'table' },
];

/** From rows to figures. */
export const episodeMeasure: Measure<EpisodeRow> = {
  row: episodeRow,
  valueOf(key) {
    if (key === 'return') return (row) => row.return;
    if (key === 'length') return (row) => row.length;
    if (key === 'truncated') return ({ truncated }) => (truncated === undefined ? undefined : Number(truncated));
    throw new TypeError(`expected a figure of episodes, got ${key}`);
  },
  clusters: 'episodes',
  cluster: ({ id }) => id,
  slices: {},
  costOf: () => ({}),
  arrow: (rows) =>
    arrowFile(rows, ({ float64, int32, uint8 }) => ({
      return: float64((row) => row.return ?? NaN),
      length: int32(({ length = 0 }) => length),
      truncated: uint8(({ truncated }) => Number(truncated === true)),
    })),
};

export const episodeScorer: Scorer<EpisodeSample, PlayedEpisode, EpisodeRow> = {
  measure: episodeMeasure,
  figures,
  rowOf: ({ task: { id } }, attempt) => (attempt?.answer ? { id, ...attempt.answer } : { id, miss: 'agent-failed' }),
};
