/** Inputs of a reader in training and answering, and the file of its basis. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import type { JsonObject } from '../../checkpoints/checkpoint.js';
import { encodeSafetensors, readSafetensors, type Tensor } from '../../checkpoints/safetensors.js';
import type { FrontierTrie } from '../../envs/relation-walk/frontier-trie.js';
import type { StateEncoder } from '../../src/encoder/state-encoder.js';
import type { Graph } from '../../src/kg/graph.js';
import { WorkbenchError } from '../../src/run/errors.js';
import { writeFileAtomic } from '../../src/run/files.js';
import { runFiles } from '../../src/run/run-files.js';
import type { ReaderSettings } from './settings.js';

/** Inputs of a reader other than questions: those come with `basis`, `step` and `answer`. */
export interface ReaderFacts {
  graph: Graph;
  settings: ReaderSettings;
  /** Relations a chain may have, at least 1. */
  horizon: number;
  /** Tokens of a question that the encoder reads. */
  maxTokens: number;
  /** Frontiers of chains. */
  frontiers: FrontierTrie;
  /** The run's encoder of texts; its owner disposes it. */
  encoder: StateEncoder;
  /** Seed of the run; random numbers come from named streams of it. */
  seed: number;
  /** The run's folder, for large things that are made before the first step, such as tables of entities. */
  folder: string;
}

/** Words and scales that a reader computes from train before its first step and needs to answer. Saved in the run folder. */
export type ReaderBasis = { state: JsonObject; tensors: Record<string, Tensor> };

const file = (runFolder: string) => join(runFiles(runFolder).embeddings, 'reader.safetensors');

const stateShape = z.record(z.string(), z.json());

/** Keeps the basis with the run, atomically. */
export function writeBasis(runFolder: string, { state, tensors }: ReaderBasis): void {
  const metadata = new Map([['state', JSON.stringify(state)]]);
  writeFileAtomic(file(runFolder), encodeSafetensors({ tensors: new Map(Object.entries(tensors)), metadata }));
}

/** The basis of a run. @throws WorkbenchError `data` where there is none yet, or a damaged one */
export function readBasis(runFolder: string): ReaderBasis {
  const place = file(runFolder);
  if (!existsSync(place)) {
    throw new WorkbenchError('data', `expected what a reader made of train, got none, at ${place}`, {
      hint: 'The run stopped before it trained anything; resume it: `kgwalk train --resume --run-dir DIR`.',
    });
  }
  const { tensors, metadata } = readSafetensors(place, { own: true });
  const damaged = (got: string) =>
    new WorkbenchError('data', `expected the words and scales of a reader, got ${got}, at ${place}`, {
      hint: 'Restore the file from a copy, or train again in another folder.',
    });
  try {
    const state = stateShape.parse(JSON.parse(metadata.get('state') ?? '')) as JsonObject;
    return { state, tensors: Object.fromEntries(tensors) };
  } catch {
    throw damaged('something else');
  }
}
