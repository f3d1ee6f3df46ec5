/**
 * Evaluations in parts, made by machines that share a folder: each keeps its part in `shards` of the whole's folder, and an evaluation of
 * the whole resumes from the parts, as from an interrupted evaluation.
 */
import { existsSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { canonicalJson } from '../src/run/config.js';
import { WorkbenchError } from '../src/run/errors.js';
import { evaluationFiles } from '../src/run/run-folder.js';
import { isLocked } from '../src/run/run-lock.js';
import { type Shard, shardName, shardNamed, shardOf, shardRange } from '../src/run/shards.js';
import type { AboutEvaluation } from '../src/run/evaluation.js';

const folderOfAll = (folder: string) => join(folder, 'shards');

/** @param folder of the whole */
export const shardFolder = (folder: string, shard: Shard): string => join(folderOfAll(folder), shardName(shard));

interface Asked {
  about: AboutEvaluation;
}

/** Identity of a shard: that of the whole, and the part. */
export function askedOfShard<A extends Asked>(asked: A, { part, of }: Shard): A {
  return { ...asked, about: { ...asked.about, shard: `${part}/${of}` } };
}

/** The samples of an evaluation, which may be that of a shard. */
export function samplesOf<Sample>(samples: readonly Sample[], { shard }: AboutEvaluation): readonly Sample[] {
  return typeof shard === 'string' ? shardSamples(samples, shardOf(shard)) : samples;
}

/**
 * Neighbours stay together: turns of a dialogue share their texts, answers of one question their scores.
 * @throws WorkbenchError `usage` for a part without samples
 */
export function shardSamples<Sample>(samples: readonly Sample[], shard: Shard): readonly Sample[] {
  const [begin, end] = shardRange(samples.length, shard);
  if (begin !== end) return samples.slice(begin, end);
  throw new WorkbenchError(
    'usage',
    `expected at most ${samples.length} parts, a sample each, got ${shard.of}, at --shard ${shard.part}/${shard.of}`,
  );
}

/** Shards that have kept results of an evaluation, by number. */
export function shardsIn(folder: string): Shard[] {
  const all = folderOfAll(folder);
  if (!existsSync(all)) return [];
  return readdirSync(all)
    .flatMap((name) => shardNamed(name) ?? [])
    .filter((shard) => existsSync(evaluationFiles(shardFolder(folder, shard)).asked))
    .sort((a, b) => a.of - b.of || a.part - b.part);
}

/**
 * Whether a shard asked what the whole asks.
 * @throws WorkbenchError `usage` while another process holds it, `data` for one of another evaluation
 */
export function checkShard(folder: string, shard: Shard, asked: Asked, ofShard: Asked): void {
  const place = shardFolder(folder, shard);
  if (isLocked(place)) {
    throw new WorkbenchError('usage', `expected shards that are done, got one that is at work, at ${place}`, {
      hint: 'Wait for it, or stop it: the whole resumes from its results.',
    });
  }
  if (canonicalJson(ofShard) === canonicalJson(askedOfShard(asked, shard))) return;
  throw new WorkbenchError('data', `expected a shard of this evaluation, got one that asked otherwise, at ${place}`, {
    hint: 'Its checkpoint is an earlier one, or its files are of elsewhere: remove the folder, or run the shard again.',
  });
}

/** All that shards kept is in the whole now. */
export const removeShards = (folder: string): void => rmSync(folderOfAll(folder), { recursive: true, force: true });
