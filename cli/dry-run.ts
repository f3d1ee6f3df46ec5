/** Plan of a training run: work, backend and time, without training. */
import type { RunSettings } from '../presets/index.js';
import type { TextGroup, TrainingPlan } from '../tasks/task.js';
import type { StateEncoder } from '../src/encoder/state-encoder.js';
import type { Row } from './output.js';
import { distinctTexts } from './training-texts.js';

/** English text has about this many characters a token of a word-piece vocabulary. */
const charactersPerToken = 4.3;

/** Texts of each kind that are encoded to measure the speed. */
const probeSize = 24;

/** State of the run. */
export interface DryRunOptions {
  /** True if PPO already has a clone to start from, as a fork has. Default false. */
  hasClone?: boolean;
}

/**
 * Counts the work of each phase. Texts that a cache holds are not counted; the time of the others is measured on a few.
 * @throws what training itself would throw for inputs that do not fit
 */
export async function dryRun(settings: RunSettings, { hasClone = false }: DryRunOptions = {}): Promise<Row[]> {
  const { taskOfSettings } = await import('../tasks/index.js');
  const { checkTrainSettings } = await import('../trainers/check-settings.js');
  const task = await taskOfSettings(settings);
  checkTrainSettings(task.learning, settings, hasClone);
  const plan = await task.plan(settings);
  const { notes, before, phases, texts, walks } = plan;
  const [data, ...others] = notes;
  const works = (of: Record<string, string>) => Object.entries(of).map(([phase, work]) => ({ phase, work }));
  const readsTexts = texts.length > 0 || walks !== undefined;
  const encoder = await encoderFor(readsTexts, settings);
  try {
    const { openBackend } = await import('../src/tensor/backend.js');
    const { name, why } = await openBackend(settings.backend, task.learning.networkSize(settings, encoder.dim));
    return [
      { phase: 'data', work: data! },
      ...others.map((note) => ({ phase: 'note', work: note })),
      { phase: 'networks', work: `computed on ${name}: ${why}` },
      ...works(before),
      ...(readsTexts ? await encodingRows(plan, settings, encoder) : []),
      ...works(phases),
    ];
  } finally {
    await encoder.dispose();
  }
}

async function encoderFor(readsTexts: boolean, settings: RunSettings): Promise<StateEncoder> {
  const { openEncoder } = await import('../src/encoder/open-encoder.js');
  const { noEncoder } = await import('../src/encoder/state-encoder.js');
  const { cacheFolder } = await import('../src/run/locations.js');
  return readsTexts ? openEncoder(settings.encoder, { cacheFolder: cacheFolder() }) : noEncoder();
}

async function encodingRows({ texts, walks }: TrainingPlan, settings: RunSettings, encoder: StateEncoder) {
  const groups = distinctTexts(texts);
  // The speed is measured on texts spread over those missing in the cache; their vectors stay in it.
  let missing = 0;
  for (const group of groups) {
    const held = encoder.held(group.texts, group);
    const texts = group.texts.filter((_, i) => held[i] === 0);
    const probe = texts.filter((_, i) => i % Math.ceil(texts.length / probeSize) === 0);
    await encoder.encode(probe, { maxTokens: group.maxTokens });
    missing += tokensOf({ ...group, texts });
  }
  const { tokens, seconds } = encoder.counters;
  const rate = seconds > 0 ? tokens / seconds : undefined;
  const states = walks && (await (await import('./state-plan.js')).stateRows(walks, settings, encoder));
  return [...encodeRow(groups, missing, rate), ...(states ?? [])];
}

/**
 * The texts that are encoded before anything is trained; no row where there are none.
 * @param missing tokens of those that no cache holds
 * @param rate tokens a second; undefined where there are none
 */
function encodeRow(groups: readonly TextGroup[], missing: number, rate: number | undefined): Row[] {
  const total = (of: (group: TextGroup) => number) => groups.reduce((sum, group) => sum + of(group), 0);
  const [texts, tokens] = [total((group) => group.texts.length), total(tokensOf)];
  if (texts === 0) return [];
  const share = Math.round((100 * missing) / Math.max(1, tokens));
  return [
    {
      phase: 'encode',
      work: `${texts} distinct texts, about ${tokens} tokens, ${share} % of them new`,
      time:
        rate === undefined
          ? 'all cached'
          : `about ${Math.ceil(missing / rate / 60)} min at ${Math.round(rate)} tokens/s`,
    },
  ];
}

function tokensOf({ texts, maxTokens }: TextGroup): number {
  return texts.reduce((sum, text) => sum + Math.min(maxTokens, Math.ceil(text.length / charactersPerToken)), 0);
}
