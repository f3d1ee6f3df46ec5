/**
 * Evaluations in parts, as jobs make them: each is kept in `shards` of the whole's folder, and an evaluation of the whole
 * resumes from the parts, as from an interrupted evaluation.
 */
import { existsSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { canonicalJson } from '../src/run/config-values.js';
import { kgwalkVersion } from '../src/run/environment.js';
import { WorkbenchError } from '../src/run/errors.js';
import { evaluationFiles } from '../src/run/run-files.js';
import type { AboutEvaluation } from '../src/run/evaluation.js';
import { repeated } from './repeats.js';
import type { Sample } from './score.js';

/** Part of a whole; part 1 of 1 is the whole. */
export interface Shard {
  /** From 1. */
  part: number;
  of: number;
}

/** A part such as `2/8`. @throws WorkbenchError `usage` for any other text */
export function shardOf(text: string): Shard {
  const [part, of] = /^(\d{1,6})\/(\d{1,6})$/.exec(text)?.slice(1).map(Number) ?? [];
  if (part !== undefined && of !== undefined && part >= 1 && part <= of) return { part, of };
  throw new WorkbenchError('usage', `expected a part such as 2/8, got ${JSON.stringify(text)}, at --part`);
}

const folderOfAll = (folder: string) => join(folder, 'shards');

/** @param folder of the whole */
export const shardFolder = (folder: string, { part, of }: Shard): string =>
  join(folderOfAll(folder), `${part}-of-${of}`);

type Asked = { about: AboutEvaluation };

/** Identity of a shard: that of the whole, the part, and the program: what several versions counted is not put together. */
export function askedOfShard<A extends Asked>(asked: A, { part, of }: Shard): A {
  return { ...asked, about: { ...asked.about, shard: `${part}/${of}`, program: kgwalkVersion() } };
}

/** The samples of an evaluation, which may repeat them, or be that of a shard. */
export function samplesOf<S extends Sample>(samples: readonly S[], { shard, repeats }: AboutEvaluation): readonly S[] {
  const all = repeated(samples, repeats);
  return typeof shard === 'string' ? shardSamples(all, shardOf(shard)) : all;
}

/** Neighbours stay together: turns of a dialogue share their texts, answers of one question their scores. */
export function shardSamples<Sample>(samples: readonly Sample[], { part, of }: Shard): readonly Sample[] {
  const end = (parts: number) => Math.floor((parts * samples.length) / of);
  return samples.slice(end(part - 1), end(part));
}

/** Shards that have kept results of an evaluation, by number. */
export function shardsIn(folder: string): Shard[] {
  const all = folderOfAll(folder);
  if (!existsSync(all)) return [];
  return readdirSync(all)
    .flatMap((name): Shard[] => {
      const [part, of] = /^(\d+)-of-(\d+)$/.exec(name)?.slice(1).map(Number) ?? [];
      return part !== undefined && of !== undefined ? [{ part, of }] : [];
    })
    .filter((shard) => existsSync(evaluationFiles(shardFolder(folder, shard)).asked))
    .sort((a, b) => a.of - b.of || a.part - b.part);
}

/** @throws WorkbenchError `data` for a shard of another evaluation */
export function checkShard(folder: string, shard: Shard, asked: Asked, ofShard: Asked): void {
  const place = shardFolder(folder, shard);
  if (canonicalJson(ofShard) === canonicalJson(askedOfShard(asked, shard))) return;
  throw new WorkbenchError('data', `expected a shard of this evaluation, got one that asked otherwise, at ${place}`, {
    hint: 'Its checkpoint or its version of the program is another one, or its files are of elsewhere: remove the folder, or write the plan again.',
  });
}

/** All that shards kept is in the whole now. */
export const removeShards = (folder: string): void => rmSync(folderOfAll(folder), { recursive: true, force: true });
