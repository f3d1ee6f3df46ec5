/** What a training run would do, without doing it. */
import type { RunSettings } from '../presets/schema.js';
import type { Row } from './output.js';

/** English text has about this many characters a token of a word-piece vocabulary. */
const charactersPerToken = 4.3;

/** Texts of each kind that are encoded to see how fast it goes. */
const probeSize = 24;

/** Texts of one kind, each once, and how many tokens of them count. */
interface TextGroup {
  texts: string[];
  maxTokens: number;
}

/**
 * Counts the work of each phase. Texts that a cache holds are not counted; the time of the others is measured on a few.
 * @throws what training itself would throw for inputs that do not fit
 */
export async function dryRun(settings: RunSettings): Promise<Row[]> {
  const { loadDataset } = await import('../datasets/registry.js');
  const { entityTexts, lastMessageText, relationTexts, windowText } =
    await import('../agents/walker/features/dialogue-texts.js');
  const { checkTrainSettings } = await import('../trainers/check-settings.js');
  const { goldWalks } = await import('../trainers/cloning/gold-states.js');
  const { samplesOfSplit } = await import('../trainers/dialogues/samples-of-split.js');
  const { openEncoder } = await import('../src/encoder/open-encoder.js');
  const { cacheFolder } = await import('../src/run/locations.js');
  checkTrainSettings(settings, false);
  const dataset = loadDataset(settings.data.dataset);
  const graph = await dataset.loadGraph(settings.data.graph);
  const train = samplesOfSplit(dataset, graph, settings, 'train');
  const valid = samplesOfSplit(dataset, graph, settings, 'valid');
  const tasks = [...train, ...valid].map(({ task }) => task);
  const { nameTokens, lastMessageTokens, windowTokens, windowMessages } = settings.encoder;
  const groups = groupsOf([
    { texts: [...entityTexts(graph), ...relationTexts(graph)], maxTokens: nameTokens },
    { texts: tasks.map(lastMessageText), maxTokens: lastMessageTokens },
    { texts: tasks.map((task) => windowText(task, windowMessages)), maxTokens: windowTokens },
  ]);
  const total = (of: (group: TextGroup) => number) => groups.reduce((sum, group) => sum + of(group), 0);
  const encoder = await openEncoder(settings.encoder, { cacheFolder: cacheFolder() });
  const golds = goldWalks(train, graph, settings.env).length;
  const updates = settings.clone.epochs * Math.ceil(golds / settings.clone.batchSize);
  const walks = settings.ppo.gradient === 'exact' ? 'none walked' : `${settings.ppo.explorations} walks each`;
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
      { phase: 'data', work: `${train.length} train and ${valid.length} valid samples on graph ${graph.name}` },
      {
        phase: 'transe',
        work: settings.transe.enabled ? `${settings.transe.epochs} epochs at most over ${graph.numEdges} edges` : 'off',
      },
      {
        phase: 'encode',
        work: `${total(({ texts }) => texts.length)} distinct texts, about ${total(tokensOf)} tokens, ${share} % of them new`,
        time:
          rate === undefined
            ? 'all cached'
            : `about ${Math.ceil(missing / rate / 60)} min at ${Math.round(rate)} tokens/s`,
      },
      {
        phase: 'clone',
        work: settings.clone.enabled ? `${updates} updates of ${settings.clone.batchSize} samples` : 'off',
      },
      {
        phase: 'ppo',
        work: settings.ppo.enabled
          ? `${settings.ppo.updates} updates of ${settings.ppo.samplesPerUpdate} samples, ${walks}`
          : 'off',
      },
    ];
  } finally {
    await encoder.dispose();
  }
}

/** Every text in the first group that asks for it; blank ones in none. */
function groupsOf(groups: readonly TextGroup[]): TextGroup[] {
  const known = new Set(['']);
  return groups.map(({ texts, maxTokens }) => ({
    texts: [...new Set(texts)].filter((text) => !known.has(text) && known.add(text)),
    maxTokens,
  }));
}

function tokensOf({ texts, maxTokens }: TextGroup): number {
  return texts.reduce((sum, text) => sum + Math.min(maxTokens, Math.ceil(text.length / charactersPerToken)), 0);
}
