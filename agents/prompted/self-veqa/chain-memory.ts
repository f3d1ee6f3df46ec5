/** Solved questions and their chains: where examples come from. Never filled from anything but train and the agent's own work. */
import { maskedQuestion, type QuestionSample } from '../../../datasets/question.js';
import { madeFromSamples } from '../../../datasets/sample-source.js';
import { dot, type TextVectors } from '../../../src/encoder/state-encoder.js';
import { madeFrom } from '../../../src/run/provenance.js';
import { Rng } from '../../../src/run/seeds.js';

/** A solved question: its text without the topic, its chain, and who solved it. */
export interface MemoryEntry {
  /** The question with its topics masked: templates are compared, not names. */
  masked: string;
  /** Relation ids. */
  chain: readonly number[];
  /** Origin, for tracing wrong entries. */
  source: { kind: 'train' | 'online'; questionId: string; round?: number };
}

interface SelectOptions {
  shots: number;
  shotsPerChain: number;
  /** Weight of unlikeness to those chosen before, in [0, 1]. */
  shotDiversity: number;
  /** Length of the chain; absent: any. */
  hops?: number | undefined;
}

/** Solved questions, of which those most like another one can be asked for. */
export interface ChainMemory {
  readonly entries: readonly MemoryEntry[];
  /** Entries most like the question and unlike each other, most like first. */
  select(masked: string, options: SelectOptions): Promise<MemoryEntry[]>;
  /** @returns false where the same question and chain are known already */
  add(entry: MemoryEntry): boolean;
  encode(signal?: AbortSignal): Promise<void>;
}

/** Nearest entries among which diversity may choose. */
const poolSize = 64;

/** @param initial first entries; repeats of a question with the same chain are dropped */
export function chainMemory(vectors: TextVectors, initial: readonly MemoryEntry[]): ChainMemory {
  const entries = new Map<string, MemoryEntry>();
  const add = (entry: MemoryEntry) => {
    const key = `${entry.masked}\u0000${entry.chain.join()}`;
    if (entries.has(key)) return false;
    entries.set(key, entry);
    // No gold is read: what it says is the agent's own.
    if (entry.source.kind === 'online') madeFrom('own answers', 'Self-VEQA memory')(entry.source.questionId, '');
    return true;
  };
  initial.forEach(add);
  return {
    get entries() {
      return [...entries.values()];
    },
    add,
    async encode(signal) {
      await vectors.of(
        [...entries.values()].map(({ masked }) => masked),
        signal,
      );
    },
    async select(masked, options) {
      const { shots, hops } = options;
      if (shots === 0) return [];
      const fitting = [...entries.values()].filter(({ chain }) => hops === undefined || chain.length === hops);
      const [query, ...rows] = await vectors.of([masked, ...fitting.map((entry) => entry.masked)]);
      const pool = fitting
        .map((entry, i) => ({ entry, vector: rows[i]!, likeness: dot(query!, rows[i]!) }))
        .sort((a, b) => b.likeness - a.likeness)
        .slice(0, poolSize);
      return diverse(pool, options);
    },
  };
}

type Rated = { entry: MemoryEntry; vector: Float32Array; likeness: number };

/**
 * Maximal marginal relevance: one after the other, the best of likeness to the question against likeness to what was chosen.
 * @source Carbonell and Goldstein 1998
 */
function diverse(pool: readonly Rated[], { shots, shotsPerChain, shotDiversity }: SelectOptions): MemoryEntry[] {
  const chosen: Rated[] = [];
  const uses = new Map<string, number>();
  const used = ({ entry }: Rated) => uses.get(entry.chain.join()) ?? 0;
  while (chosen.length < shots) {
    let best: Rated | undefined;
    let bestValue = -Infinity;
    for (const candidate of pool) {
      if (chosen.includes(candidate) || used(candidate) >= shotsPerChain) continue;
      const nearest = Math.max(0, ...chosen.map(({ vector }) => dot(vector, candidate.vector)));
      const value = (1 - shotDiversity) * candidate.likeness - shotDiversity * nearest;
      if (value > bestValue) [best, bestValue] = [candidate, value];
    }
    if (!best) break;
    uses.set(best.entry.chain.join(), used(best) + 1);
    chosen.push(best);
  }
  return chosen.sort((a, b) => b.likeness - a.likeness).map(({ entry }) => entry);
}

/**
 * Entries of the train part, one for each gold chain.
 * @param perChain most entries of one chain, drawn by seed (reservoir); 0 keeps all
 */
export function trainEntries(train: readonly QuestionSample[], perChain: number, seed: number): MemoryEntry[] {
  const kept = new Map<string, { seen: number; entries: MemoryEntry[] }>();
  const rng = Rng.named(seed, 'self-veqa/memory');
  const note = madeFromSamples('memory', 'Self-VEQA memory');
  for (const sample of train) {
    const { task, gold } = sample;
    for (const chain of gold.chains) {
      note(sample);
      const entry: MemoryEntry = {
        masked: maskedQuestion(task),
        chain,
        source: { kind: 'train', questionId: task.id },
      };
      const key = chain.join();
      const group = kept.get(key) ?? { seen: 0, entries: [] };
      kept.set(key, group);
      group.seen++;
      if (perChain === 0 || group.entries.length < perChain) group.entries.push(entry);
      else {
        const index = rng.integer(group.seen);
        if (index < perChain) group.entries[index] = entry;
      }
    }
  }
  return [...kept.values()].flatMap(({ entries }) => entries);
}
