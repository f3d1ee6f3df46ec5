/** Names of evaluations: every option of every agent is in them, and what an evaluation wrote down is enough to open its agent again. */
import { readdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import { expect, test } from '@jest/globals';
import type { z } from 'zod';
import type { AgentEntry } from '../../agents/registry.js';
import type { linkAgents } from '../../agents/index.js';
import { readRunCheckpoint } from '../../checkpoints/chain.js';
import { weightsOnly, writeCheckpoint } from '../../checkpoints/checkpoint.js';
import { type AskedEvaluation, evaluationFolder, readAsked } from '../../evaluation/keep.js';
import { loadPreset } from '../../presets/index.js';
import { vectorSettings } from '../../src/encoder/settings.js';
import { WorkbenchError } from '../../src/run/errors.js';
import { silentProgress } from '../../src/run/progress.js';
import { askedOf, openAgents } from '../../tasks/evaluate.js';
import type { EvaluationFlags } from '../../tasks/flags.js';
import { allTasks, type AnyTask } from '../../tasks/index.js';
import { train } from '../../tasks/train.js';
import { bilinearSettings } from '../../agents/embeddings/bilinear/settings.js';
import { transeSettings } from '../../agents/embeddings/transe/settings.js';
import { kgwalk, kgwalkJson } from '../fixtures/command-line.js';
import { finishedRun } from '../fixtures/finished-run.js';
import { useSharedHome } from '../fixtures/own-home.js';
import { folderWith } from '../fixtures/tiny-release.js';
import { rewriteConfig } from '../fixtures/tiny-training.js';

const runs = new Map<string, string>();
useSharedHome(async () => {
  for (const task of ['dialogues', 'questions', 'links'] as const) runs.set(task, await finishedRun(task));
  exported = await exportedWeights();
});

/** File of weights that suit any graph. */
let exported: string;

async function exportedWeights(): Promise<string> {
  const folder = join(folderWith({}), 'meetings');
  const own = ['data.dataset=tiny', 'exactWalker.messages.relations=graph', 'exactWalker.messages.views=0'];
  await train({ settings: loadPreset('link-messages', [...own, 'exactWalker.messages.steps=1']), folder });
  const file = join(folder, '..', 'any.safetensors');
  writeCheckpoint(file, weightsOnly(readRunCheckpoint(folder, 'best')));
  return file;
}

const datasets: Readonly<Record<string, string>> = {
  ...{ dialogues: 'opendialkg', questions: 'films', links: 'tiny', episodes: 'kgwalk/CartPole-v1' },
};
/** Values of words that are free; a new one needs a line. */
const words = (task: string): Readonly<Record<string, [first: string, other: string]>> => ({
  ...{ imported: ['', 'vectors'], from: ['', 'tiny'], of: ['rules+transe', 'rules+bilinear'], prefilter: ['', 'bm25'] },
  file: ['', exported],
  walker: [runs.get(task)!, `${runs.get(task)}@last`],
});
const sections: Readonly<Record<string, z.ZodType>> = {
  ...{ encoder: vectorSettings, transe: transeSettings, bilinear: bilinearSettings },
};

const work = { progress: silentProgress, note() {}, onTruncatedLog() {}, preset: () => Promise.reject(new Error()) };

type Shape = Readonly<Record<string, z.ZodType & { def?: { innerType?: { options?: unknown[] } } }>>;
const shapeOf = (schema: z.ZodType | undefined) => (schema as { shape?: Shape } | undefined)?.shape ?? {};

/** Another value of an option than the one it has. */
function otherValue(name: string, schema: Shape[string], value: unknown, task = 'questions'): unknown {
  const [count, listed] = [Number(value), schema.def?.innerType?.options ?? []];
  const all = [...listed, !value, count + 1, count - 1, count / 2, (count + 1) / 2, count + 8, words(task)[name]?.[1]];
  const found = all.find((one) => one !== value && schema.safeParse(one).success);
  if (found === undefined) throw new Error(`expected another value of ${name}, got none: give it a word above`);
  return found;
}

/** Name of the folder of an evaluation that is about to be made; undefined where what was asked for is refused. */
async function nameOf(
  task: AnyTask,
  agent: string,
  switches: object,
  kept?: object,
  asGiven = false,
): Promise<{ name?: string; asked?: AskedEvaluation }> {
  const base: EvaluationFlags = {
    dataset: datasets[task.name]!,
    checkpoint: 'best',
    encoder: 'hashed:8',
    set: [],
    modelSet: [],
  };
  const about = { options: kept };
  const flags = { ...base, ...(kept && { kept: { about } as unknown as AskedEvaluation }) };
  const which = { name: agent, agent, switches: switches as Record<string, unknown> };
  try {
    const { agents, data, close } = await openAgents(task, [which], flags, work);
    const asked = askedOf(task, agents[0]!, data, { own: false, model: undefined });
    await close();
    return { name: basename(evaluationFolder(asked, {})), asked };
  } catch (error) {
    if (!(error instanceof WorkbenchError) || asGiven) throw error;
    return {};
  }
}

test('every switch and every option that an agent was opened from is in the name of its evaluation', async () => {
  let varied = 0;
  const refused = new Set<string>();
  for (const task of await allTasks()) {
    for (const agent of task.agents.names()) {
      const entry = (task.agents as unknown as typeof linkAgents).entry(agent) as AgentEntry<never, never>;
      const given = Object.fromEntries((entry.required ?? []).map((key) => [key, words(task.name)[key]![0]]));
      const { name, asked } = await nameOf(task, agent, given, undefined, true);
      const { switches, ...options } = asked!.about.options as Record<string, Record<string, unknown>>;
      expect(Object.keys(switches!)).toEqual(Object.keys(shapeOf(entry.settings)));
      const others = Object.entries(shapeOf(entry.settings)).map(([key, schema]) => {
        return [key, { ...given, [key]: otherValue(key, schema, switches![key], task.name) }, undefined];
      });
      for (const [section, value] of Object.entries(options)) {
        if (typeof value !== 'object') {
          others.push([
            section,
            given,
            { ...options, [section]: section === 'checkpoint' ? 'last' : Number(value) + 1 },
          ]);
          continue;
        }
        for (const [key, schema] of Object.entries(shapeOf(sections[section]))) {
          const own = { ...value, [key]: otherValue(key, schema, value[key]) };
          others.push([`${section}.${key}`, given, { ...options, [section]: own }]);
        }
      }
      for (const [what, changed, kept] of others as [string, object, object | undefined][]) {
        const other = await nameOf(task, agent, changed, kept);
        expect([agent, what, other.name]).not.toEqual([agent, what, name]);
        if (other.name === undefined) refused.add(what);
        varied++;
      }
    }
  }
  expect(varied).toBeGreaterThan(200);
  // Vectors that were not imported; and on links, where no question is solved, hops that are predicted.
  expect([...refused].sort()).toEqual(['bilinear.imported', 'hops', 'imported', 'transe.imported']);
});

const compared = {
  dialogues: ['baselines'],
  questions: ['all', '--model', 'oracle:0.3'],
  links: ['transe', 'bilinear', 'rules', 'random', 'ensemble:of=rules+bilinear'],
} as const;

test.each(['dialogues', 'questions', 'links'] as const)(
  'agents of %s compared with a run of unusual settings are opened again from what was written down alone',
  async (task) => {
    const run = runs.get(task)!;
    rewriteConfig(run, ({ encoder, evaluation, bilinear, ...config }) => {
      const { linkWalk } = config;
      return {
        ...{ ...config, seed: 5, encoder: { ...encoder, lastMessageTokens: 2, nameTokens: 1 } },
        ...{ bilinear: { ...bilinear, epochs: 2, dim: 16 }, linkWalk: { ...linkWalk, horizon: 2 } },
        evaluation: { ...evaluation, examples: 2, ks: [1, 2] },
      };
    });
    const root = folderWith({});
    const { err, exitCode } = await kgwalk('compare', ...compared[task], run, '--mixed', '--evaluations', root);
    expect([exitCode, err]).toEqual([0, expect.anything()]);
    const kept = readdirSync(root).map((name) => readAsked(name, root));
    const untrained = kept.filter(({ checkpoint }) => checkpoint === undefined);
    expect(untrained.length).toBeGreaterThan(4);
    for (const { folder, agent } of untrained) {
      const { identical, differentFiles } = await kgwalkJson<Record<string, unknown>>('replay', folder);
      expect([agent, identical, differentFiles]).toEqual([agent, true, []]);
    }
  },
);
