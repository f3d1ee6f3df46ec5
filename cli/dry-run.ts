/** What a training run would do, without doing it. */
import type { RunSettings } from '../presets/schema.js';
import type { Row } from './output.js';
import type { TextGroup } from './training-plan.js';

/** English text has about this many characters a token of a word-piece vocabulary. */
const charactersPerToken = 4.3;

/** Texts of each kind that are encoded to see how fast it goes. */
const probeSize = 24;

/** What is there already of the run. */
export interface DryRunOptions {
  /** Whether PPO has a clone to start from already, as a fork has. Default false. */
  hasClone?: boolean;
}

/**
 * Counts the work of each phase. Texts that a cache holds are not counted; the time of the others is measured on a few.
 * @throws what training itself would throw for inputs that do not fit
 */
export async function dryRun(settings: RunSettings, { hasClone = false }: DryRunOptions = {}): Promise<Row[]> {
  const { trainingPlan } = await import('./training-plan.js');
  const { openEncoder } = await import('../src/encoder/open-encoder.js');
  const { cacheFolder } = await import('../src/run/locations.js');
  const { data, notes, transe, clone, ppo, texts, walks } = await trainingPlan(settings, hasClone);
  const groups = distinctTexts(texts);
  const total = (of: (group: TextGroup) => number) => groups.reduce((sum, group) => sum + of(group), 0);
  const encoder = await openEncoder(settings.encoder, { cacheFolder: cacheFolder() });
  try {
    // A spread of texts stands for all of them; their vectors stay in the cache.
    let missing = 0;
    for (const group of groups) {
      const probe = group.texts.filter((_, i) => i % Math.ceil(group.texts.length / probeSize) === 0);
      const before = encoder.counters.encodes;
      await encoder.encode(probe, { maxTokens: group.maxTokens });
      missing += tokensOf(group) * ((encoder.counters.encodes - before) / Math.max(1, probe.length));
    }
    const { tokens, seconds } = encoder.counters;
    const rate = seconds > 0 ? tokens / seconds : undefined;
    const share = Math.round((100 * missing) / Math.max(1, total(tokensOf)));
    return [
      { phase: 'data', work: data },
      ...notes.map((note) => ({ phase: 'note', work: note })),
      { phase: 'transe', work: transe },
      ...(total((group) => group.texts.length) === 0
        ? []
        : [
            {
              phase: 'encode',
              work: `${total((group) => group.texts.length)} distinct texts, about ${total(tokensOf)} tokens, ${share} % of them new`,
              time:
                rate === undefined
                  ? 'all cached'
                  : `about ${Math.ceil(missing / rate / 60)} min at ${Math.round(rate)} tokens/s`,
            },
          ]),
      ...(walks ? await (await import('./state-plan.js')).stateRows(walks, settings, encoder) : []),
      { phase: 'clone', work: clone },
      { phase: 'ppo', work: ppo },
    ];
  } finally {
    await encoder.dispose();
  }
}

/** Every text in the first group that asks for it; blank ones in none. */
function distinctTexts(groups: readonly TextGroup[]): TextGroup[] {
  const known = new Set(['']);
  return groups.map(({ texts, maxTokens }) => ({
    texts: [...new Set(texts)].filter((text) => !known.has(text) && known.add(text)),
    maxTokens,
  }));
}

function tokensOf({ texts, maxTokens }: TextGroup): number {
  return texts.reduce((sum, text) => sum + Math.min(maxTokens, Math.ceil(text.length / charactersPerToken)), 0);
}
