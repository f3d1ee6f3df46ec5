/** What a training run would do, without doing it. */
import type { RunSettings } from '../presets/schema.js';
import type { Row } from './output.js';

/** English text has about this many characters a token of a word-piece vocabulary. */
const charactersPerToken = 4.3;

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
  const { samplesOfSplit } = await import('../trainers/samples-of-split.js');
  const { openEncoder } = await import('../src/encoder/open-encoder.js');
  const { cacheFolder } = await import('../src/run/locations.js');
  checkTrainSettings(settings, false);
  const dataset = loadDataset(settings.data.dataset);
  const graph = await dataset.loadGraph(settings.data.graph);
  const train = samplesOfSplit(dataset, graph, settings, 'train');
  const valid = samplesOfSplit(dataset, graph, settings, 'valid');
  const tasks = [...train, ...valid].map(({ task }) => task);
  const texts = [
    ...new Set([
      ...entityTexts(graph),
      ...relationTexts(graph),
      ...tasks.map(lastMessageText),
      ...tasks.map((task) => windowText(task, settings.encoder.windowMessages)),
    ]),
  ].filter((text) => text !== '');
  const tokens = texts.reduce((sum, text) => sum + Math.ceil(text.length / charactersPerToken), 0);
  const encoder = await openEncoder(settings.encoder, { cacheFolder: cacheFolder() });
  const golds = goldWalks(train, graph, settings.env).length;
  const updates = settings.clone.epochs * Math.ceil(golds / settings.clone.batchSize);
  const walks = settings.ppo.gradient === 'exact' ? 'none walked' : `${settings.ppo.explorations} walks each`;
  try {
    // A spread of texts stands for all of them; their vectors stay in the cache.
    const probe = texts.filter((_, i) => i % Math.ceil(texts.length / 48) === 0);
    await encoder.encode(probe, { maxTokens: settings.encoder.windowTokens });
    const { encodes, tokens: probed, seconds } = encoder.counters;
    const rate = seconds > 0 ? probed / seconds : undefined;
    const missing = encodes / probe.length;
    return [
      { phase: 'data', work: `${train.length} train and ${valid.length} valid samples on graph ${graph.name}` },
      {
        phase: 'transe',
        work: settings.transe.enabled ? `${settings.transe.epochs} epochs at most over ${graph.numEdges} edges` : 'off',
      },
      {
        phase: 'encode',
        work: `${texts.length} distinct texts, about ${tokens} tokens, ${Math.round(100 * missing)} % of them new`,
        time:
          rate === undefined
            ? 'all cached'
            : `about ${Math.ceil((missing * tokens) / rate / 60)} min at ${Math.round(rate)} tokens/s`,
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
